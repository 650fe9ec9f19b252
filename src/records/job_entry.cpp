#include "records/job_entry.hpp"

#include "records/energy_json.hpp"
#include "records/job_json.hpp"
#include "records/json_object.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace zeus::records {

using nlohmann::ordered_json;

namespace {

constexpr std::string_view what_entry = "an entry of a job's history";
constexpr std::size_t most_members = 4096;

constexpr std::array<std::pair<TryPurpose, std::string_view>, 3> purposes = {
    {{TryPurpose::explore, "explore"}, {TryPurpose::exploit, "exploit"}, {TryPurpose::concurrent, "concurrent"}}};
constexpr std::array<std::pair<TryOutcome, std::string_view>, 4> outcomes = {{{TryOutcome::reached, "reached"},
                                                                              {TryOutcome::stopped, "stopped"},
                                                                              {TryOutcome::exhausted, "exhausted"},
                                                                              {TryOutcome::lost, "lost"}}};

template <typename Value, std::size_t Size>
Value named(const std::array<std::pair<Value, std::string_view>, Size>& names, const JsonObject& object,
            const char* key) {
  const std::string name = object.text(key);
  for (const auto& [value, known] : names) {
    if (known == name) {
      return value;
    }
  }
  object.refuse(key, "a word that is known here");
}

template <typename Value>
ordered_json or_null(const std::optional<Value>& value) {
  if (!value) {
    return nullptr;
  }
  if constexpr (requires { value->value(); }) {
    return value->value();
  } else {
    return *value;
  }
}

ordered_json json_of(const std::vector<GpuEnergy>& gpus) {
  ordered_json list = ordered_json::array();
  for (const GpuEnergy& gpu : gpus) {
    list.push_back({{"gpu", gpu.gpu}, {"energy_j", records::json_of(gpu.energy)}});
  }
  return list;
}

std::vector<GpuEnergy> gpus_of(const JsonObject& object) {
  std::vector<GpuEnergy> gpus;
  for (const nlohmann::json& member : object.list("gpus", most_members)) {
    const JsonObject gpu{member, "what a GPU took"};
    gpus.push_back({.gpu = gpu.text("gpu"), .energy = energy_of(gpu.at("energy_j"))});
  }
  return gpus;
}

std::optional<Watts> watts_of(const JsonObject& object, const char* key) {
  const std::optional<double> value = object.number_or_null(key);
  return value ? std::optional{Watts{*value}} : std::nullopt;
}

// One function each way for every kind.

ordered_json json_of(const RecurrenceBegun& begun) {
  return {{"kind", "begun"},
          {"recurrence", begun.recurrence},
          {"owner",
           {{"host", begun.owner.host},
            {"place", begun.owner.place},
            {"pid", begun.owner.process.pid},
            {"started", begun.owner.process.started},
            {"command", begun.owner.process.command}}},
          {"device", json_of(begun.device)}};
}

RecurrenceBegun begun_of(const JsonObject& object) {
  const JsonObject owner{object.at("owner"), "a recurrence's owner"};
  return {.recurrence = object.count<std::uint64_t>("recurrence"),
          .owner = {.host = owner.text("host"),
                    .place = owner.text("place"),
                    .process = {.pid = owner.whole<std::int64_t>("pid"),
                                .started = owner.count<std::uint64_t>("started"),
                                .command = owner.text("command")}},
          .device = job_device_of(object.at("device"))};
}

ordered_json json_of(const TryStarted& started) {
  return {{"kind", "started"},
          {"try", started.event.try_number},
          {"recurrence", started.event.recurrence},
          {"batch_size", started.event.batch_size},
          {"purpose", to_string(started.event.purpose)},
          {"limit_w", or_null(started.limit)},
          {"max_epochs", started.max_epochs},
          {"budget_j", or_null(started.budget)},
          {"seed", started.seed}};
}

TryStarted started_of(const JsonObject& object) {
  const std::optional<double> budget = object.number_or_null("budget_j");
  return {.event = {.try_number = object.count<std::uint64_t>("try"),
                    .recurrence = object.count<std::uint64_t>("recurrence"),
                    .batch_size = object.count<int>("batch_size"),
                    .purpose = named(purposes, object, "purpose")},
          .limit = watts_of(object, "limit_w"),
          .max_epochs = object.count<int>("max_epochs"),
          .budget = budget ? std::optional{Joules{*budget}} : std::nullopt,
          .seed = object.count<std::uint64_t>("seed")};
}

ordered_json json_of(const ProfileTaken& taken) {
  ordered_json limits = ordered_json::array();
  for (const LimitProfile& limit : taken.event.limits) {
    limits.push_back({{"limit_w", limit.limit.value()},
                      {"epoch_time_s", limit.epoch_time.value()},
                      {"average_power_w", limit.average_power.value()}});
  }
  return {
      {"kind", "profiled"},          {"recurrence", taken.event.recurrence},   {"batch_size", taken.event.batch_size},
      {"limits", std::move(limits)}, {"energy_j", taken.event.energy.value()}, {"time_s", taken.event.time.value()},
      {"gpus", json_of(taken.gpus)}};
}

ProfileTaken profile_of(const JsonObject& object) {
  ProfileTaken taken{.event = {.recurrence = object.count<std::uint64_t>("recurrence"),
                               .batch_size = object.count<int>("batch_size"),
                               .limits = {},
                               .energy = Joules{object.not_negative("energy_j")},
                               .time = Seconds{object.not_negative("time_s")}},
                     .gpus = gpus_of(object)};
  for (const nlohmann::json& member : object.list("limits", most_members)) {
    const JsonObject limit{member, "the profile of a power limit"};
    const LimitProfile profile{.limit = Watts{limit.number("limit_w")},
                               .epoch_time = Seconds{limit.number("epoch_time_s")},
                               .average_power = Watts{limit.number("average_power_w")}};
    if (profile.limit <= Watts{} || profile.epoch_time <= Seconds{} || profile.average_power <= Watts{}) {
      object.refuse("limits", "a list of limits, times and powers above 0");
    }
    taken.event.limits.push_back(profile);
  }
  return taken;
}

ordered_json json_of(const EpochsRun& run) {
  return {{"kind", "epochs"},         {"try", run.try_number},         {"recurrence", run.recurrence},
          {"epochs", run.epochs},     {"metric", or_null(run.metric)}, {"time_s", run.time.value()},
          {"gpus", json_of(run.gpus)}};
}

EpochsRun epochs_of(const JsonObject& object) {
  return {.try_number = object.count<std::uint64_t>("try"),
          .recurrence = object.count<std::uint64_t>("recurrence"),
          .epochs = object.count<int>("epochs"),
          .metric = object.number_or_null("metric"),
          .gpus = gpus_of(object),
          .time = Seconds{object.not_negative("time_s")}};
}

ordered_json json_of(const TryFinished& finished) {
  return {{"kind", "finished"},
          {"try", finished.event.try_number},
          {"recurrence", finished.event.recurrence},
          {"batch_size", finished.event.batch_size},
          {"outcome", to_string(finished.event.outcome)},
          {"epochs", finished.event.epochs},
          {"energy_j", finished.event.energy.value()},
          {"time_s", finished.event.time.value()},
          {"limit_w", or_null(finished.limit)},
          {"metric", or_null(finished.metric)},
          {"exit_code", or_null(finished.exit_code)},
          {"left_out", or_null(finished.left_out)},
          {"gpus", json_of(finished.gpus)}};
}

TryFinished finished_of(const JsonObject& object) {
  TryFinished finished{.event = {.try_number = object.count<std::uint64_t>("try"),
                                 .recurrence = object.count<std::uint64_t>("recurrence"),
                                 .batch_size = object.count<int>("batch_size"),
                                 .outcome = named(outcomes, object, "outcome"),
                                 .epochs = object.count<int>("epochs"),
                                 .energy = Joules{object.not_negative("energy_j")},
                                 .time = Seconds{object.not_negative("time_s")}},
                       .gpus = gpus_of(object),
                       .limit = watts_of(object, "limit_w"),
                       .metric = object.number_or_null("metric"),
                       .exit_code = {},
                       .left_out = {}};
  if (!object.at("exit_code").is_null()) {
    finished.exit_code = object.whole<int>("exit_code");
  }
  if (!object.at("left_out").is_null()) {
    finished.left_out = object.text("left_out");
  }
  return finished;
}

ordered_json json_of(const RecurrenceGivenUp& given_up) {
  return {{"kind", "given_up"}, {"recurrence", given_up.recurrence}, {"reason", given_up.reason}};
}

RecurrenceGivenUp given_up_of(const JsonObject& object) {
  return {.recurrence = object.count<std::uint64_t>("recurrence"), .reason = object.text("reason")};
}

ordered_json json_of(const DeviceMoved& moved) {
  return {{"kind", "moved"}, {"device", json_of(moved.device)}};
}

DeviceMoved moved_of(const JsonObject& object) {
  return {.device = job_device_of(object.at("device"))};
}

JobEntryBody body_of(const JsonObject& object) {
  const std::string kind = object.text("kind");
  if (kind == "begun") {
    return begun_of(object);
  }
  if (kind == "started") {
    return started_of(object);
  }
  if (kind == "profiled") {
    return profile_of(object);
  }
  if (kind == "epochs") {
    return epochs_of(object);
  }
  if (kind == "finished") {
    return finished_of(object);
  }
  if (kind == "given_up") {
    return given_up_of(object);
  }
  if (kind == "moved") {
    return moved_of(object);
  }
  object.refuse("kind", "one that is known here");
}

}  // namespace

std::string_view to_string(TryPurpose purpose) {
  return purposes.at(static_cast<std::size_t>(purpose)).second;
}

std::string_view to_string(TryOutcome outcome) {
  return outcomes.at(static_cast<std::size_t>(outcome)).second;
}

std::string to_json(const JobEntryBody& body) {
  return one_line(std::visit([](const auto& known) { return json_of(known); }, body));
}

JobEntryBody job_entry_body_from_json(std::string_view text) {
  return body_of(JsonObject{parsed(text, what_entry), what_entry});
}

std::string to_json(const JobEntry& entry) {
  ordered_json object = std::visit([](const auto& known) { return json_of(known); }, entry.body);
  object["sequence"] = entry.sequence;
  object["written_us"] = entry.written.microseconds_since_epoch;
  return one_line(object);
}

JobEntry job_entry_from_json(std::string_view text) {
  const nlohmann::json json = parsed(text, what_entry);
  const JsonObject object{json, what_entry};
  return {.sequence = object.count<std::uint64_t>("sequence"),
          .written = WallTime{object.whole<std::int64_t>("written_us")},
          .body = body_of(object)};
}

}  // namespace zeus::records
