#include "records/job_view.hpp"

#include "base/wall_time_text.hpp"
#include "records/job_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace zeus::records {

using nlohmann::ordered_json;

namespace {

// An object whose unknown members are null, with why in "reason" under the same key.
class Explained {
 public:
  void put(const char* key, ordered_json value) { object_[key] = std::move(value); }

  template <typename Value>
  void put(const char* key, const std::optional<Value>& value, std::string_view why) {
    object_[key] = nullptr;
    if (!value) {
      reason_[key] = why;
    } else if constexpr (requires { value->value(); }) {
      object_[key] = value->value();
    } else {
      object_[key] = *value;
    }
  }

  ordered_json take() {
    if (!reason_.empty()) {
      object_["reason"] = std::move(reason_);
    }
    return std::move(object_);
  }

 private:
  ordered_json object_ = ordered_json::object();
  ordered_json reason_ = ordered_json::object();
};

std::string_view to_string(NextKind kind) {
  switch (kind) {
    case NextKind::run:
      return "run";
    case NextKind::profile:
      return "profile";
    case NextKind::give_up:
      break;
  }
  return "give_up";
}

ordered_json json_of(const LimitProfile& limit) {
  return {{"limit_w", limit.limit.value()},
          {"epoch_time_s", limit.epoch_time.value()},
          {"average_power_w", limit.average_power.value()}};
}

ordered_json json_of(const ArmView& arm) {
  constexpr std::string_view nothing_believed = "nothing is known that would tell";
  constexpr std::string_view not_profiled = "no power limit has been measured at this batch size on these devices";
  Explained object;
  object.put("batch_size", arm.batch_size);
  object.put("default", arm.is_default);
  object.put("reached", arm.reached);
  object.put("stopped", arm.stopped);
  object.put("running", arm.running);
  object.put("expected_cost_j", arm.expected_cost, nothing_believed);
  object.put("low_cost_j", arm.low_cost, nothing_believed);
  object.put("high_cost_j", arm.high_cost, nothing_believed);
  object.put("expected_epochs", arm.expected_epochs, "the policy has no opinion about epochs, or nothing is known");
  object.put("best_limit_w", arm.best_limit, not_profiled);
  ordered_json limits = ordered_json::array();
  for (const LimitProfile& limit : arm.limits) {
    limits.push_back(json_of(limit));
  }
  object.put("limits", std::move(limits));
  return object.take();
}

ordered_json json_of(const RecurrenceView& recurrence) {
  constexpr std::string_view no_default = "what the default takes is not known, or the recurrence did not reach";
  Explained object;
  object.put("recurrence", recurrence.number);
  object.put("state", to_string(recurrence.state));
  object.put("why", recurrence.reason);
  object.put("tries", recurrence.tries);
  object.put("energy_j", recurrence.energy.value());
  object.put("uncertainty_j", recurrence.uncertainty.value());
  object.put("time_s", recurrence.time.value());
  object.put("cost_j", recurrence.cost.value());
  object.put("default_energy_j", recurrence.default_energy, no_default);
  object.put("default_time_s", recurrence.default_time, no_default);
  object.put("default_cost_j", recurrence.default_cost, no_default);
  object.put("device", recurrence.device);
  object.put("host", recurrence.owner.host);
  object.put("pid", recurrence.owner.process.pid);
  return object.take();
}

ordered_json json_of(const TryView& one) {
  const bool running = !one.outcome.has_value();
  const std::string_view unseen = running ? "it is running" : "its end was not seen";
  Explained object;
  object.put("try", one.number);
  object.put("recurrence", one.recurrence);
  object.put("batch_size", one.batch_size);
  object.put("limit_w", one.limit, "it profiles all limits, or its end was not seen");
  object.put("purpose", to_string(one.purpose));
  object.put("outcome", one.outcome ? std::optional{std::string{to_string(*one.outcome)}} : std::nullopt, unseen);
  object.put("left_out", one.left_out, "it counts");
  object.put("epochs", one.epochs);
  object.put("metric", one.metric, "none was reported");
  object.put("energy_j", one.energy ? std::optional{ordered_json::parse(to_json(*one.energy))} : std::nullopt, unseen);
  object.put("time_s", one.time, unseen);
  object.put("cost_j", one.cost, unseen);
  object.put("budget_j", one.budget, "there was no bound");
  object.put("exit_code", one.exit_code, unseen);
  object.put("device", one.device);
  object.put("host", one.host);
  object.put("started", to_text(one.started));
  object.put("ended", one.ended ? std::optional{to_text(*one.ended)} : std::nullopt, unseen);
  return object.take();
}

ordered_json json_of(const NextView& next) {
  Explained object;
  object.put("do", to_string(next.kind));
  object.put("batch_size", next.batch_size);
  object.put("purpose", to_string(next.purpose));
  object.put("limit_w", next.limit, "limits are to be measured");
  ordered_json profiles = ordered_json::array();
  for (const Watts limit : next.profiles) {
    profiles.push_back(limit.value());
  }
  object.put("profile_w", std::move(profiles));
  object.put("max_epochs", next.max_epochs, "nothing is run yet");
  object.put("budget_j", next.budget, "there is no bound");
  object.put("why", next.why);
  return object.take();
}

ordered_json json_of(const SavingsView& savings) {
  return {{"recurrences", savings.recurrences},
          {"energy_j", savings.energy.value()},
          {"energy_of_default_j", savings.energy_of_default.value()},
          {"time_s", savings.time.value()},
          {"time_of_default_s", savings.time_of_default.value()},
          {"cost_j", savings.cost.value()},
          {"cost_of_default_j", savings.cost_of_default.value()}};
}

template <typename Member>
ordered_json list_of(const std::vector<Member>& members) {
  ordered_json list = ordered_json::array();
  for (const Member& member : members) {
    list.push_back(json_of(member));
  }
  return list;
}

std::optional<ordered_json> object_or_none(const std::optional<SavingsView>& savings) {
  return savings ? std::optional{json_of(*savings)} : std::nullopt;
}

}  // namespace

std::string_view to_string(RecurrenceState state) {
  switch (state) {
    case RecurrenceState::running:
      return "running";
    case RecurrenceState::reached:
      return "reached";
    case RecurrenceState::given_up:
      break;
  }
  return "given_up";
}

std::string to_json(const JobView& job) {
  Explained object;
  object.put("name", job.name);
  object.put("definition", json_of(job.definition));
  object.put("device", json_of(job.device));
  object.put("created", to_text(job.created));
  object.put("entries", job.entries);
  object.put("best_cost_j", job.best_cost, "no recurrence has reached its target on these devices");
  object.put("next", json_of(job.next));
  object.put("savings", object_or_none(job.savings), job.savings_unknown);
  object.put("savings_of_last_five", object_or_none(job.savings_last), job.savings_unknown);
  object.put("batch_sizes", list_of(job.arms));
  object.put("recurrences", list_of(job.recurrences));
  object.put("tries", list_of(job.tries));
  return one_line(object.take());
}

}  // namespace zeus::records
