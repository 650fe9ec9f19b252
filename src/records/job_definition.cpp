#include "records/job_definition.hpp"

#include "records/job_json.hpp"
#include "records/json_object.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace zeus::records {

using nlohmann::ordered_json;

namespace {

constexpr std::string_view what_definition = "a job's definition";
constexpr std::string_view what_device = "a job's devices";
constexpr std::size_t most_members = 4096;

std::string words(const std::optional<JobTarget>& target) {
  return target ? fmt::format("{} or {}", target->metric, target->higher_is_better ? "more" : "less") : "none";
}

std::string words(const std::optional<double>& factor) {
  return factor ? fmt::format("{}", *factor) : "none";
}

// "batch sizes: 8, 16 in the store, 8, 32 now"
template <typename Value>
void compare(std::vector<std::string>& all, std::string_view what, const Value& kept, const Value& asked) {
  if (!(kept == asked)) {
    all.push_back(fmt::format("{} {}, not {}", what, kept, asked));
  }
}

}  // namespace

std::string to_text(const JobDevice& device) {
  return fmt::format("{} x {}", device.gpus, device.model);
}

std::vector<std::string> differences(const JobDefinition& kept, const JobDefinition& asked) {
  std::vector<std::string> all;
  compare(all, "its batch sizes are", fmt::format("{}", fmt::join(kept.batch_sizes, ",")),
          fmt::format("{}", fmt::join(asked.batch_sizes, ",")));
  compare(all, "its default batch size is", kept.default_batch_size, asked.default_batch_size);
  compare(all, "its target is", words(kept.target), words(asked.target));
  compare(all, "its maximum of epochs is", kept.max_epochs, asked.max_epochs);
  compare(all, "its eta is", kept.eta, asked.eta);
  compare(all, "its beta is", kept.beta, asked.beta);
  compare(all, "its window is", kept.window, asked.window);
  compare(all, "its policy is", kept.policy, asked.policy);
  compare(all, "its seed is", kept.seed, asked.seed);
  compare(all, "its largest slowdown is", words(kept.max_slowdown), words(asked.max_slowdown));
  return all;
}

ordered_json json_of(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_of(const JobDevice& device) {
  ordered_json object;
  object["model"] = device.model;
  object["gpus"] = device.gpus;
  object["max_power_w"] = device.max_power.value();
  object["power_limits_w"] = ordered_json::array();
  for (const Watts limit : device.power_limits) {
    object["power_limits_w"].push_back(limit.value());
  }
  return object;
}

JobDevice job_device_of(const nlohmann::json& json) {
  const JsonObject object{json, what_device};
  JobDevice device{.model = object.text("model"),
                   .gpus = object.count<std::uint32_t>("gpus"),
                   .max_power = Watts{object.not_negative("max_power_w")},
                   .power_limits = {}};
  for (const nlohmann::json& limit : object.list("power_limits_w", most_members)) {
    if (!limit.is_number()) {
      object.refuse("power_limits_w", "a list of numbers");
    }
    device.power_limits.emplace_back(limit.get<double>());
  }
  return device;
}

ordered_json json_of(const JobDefinition& definition) {
  ordered_json object;
  object["batch_sizes"] = definition.batch_sizes;
  object["default_batch_size"] = definition.default_batch_size;
  object["target"] = nullptr;
  if (definition.target) {
    object["target"] = {{"metric", definition.target->metric},
                        {"higher_is_better", definition.target->higher_is_better}};
  }
  object["max_epochs"] = definition.max_epochs;
  object["eta"] = definition.eta;
  // JSON has no infinity: null is a beta that never stops a run early.
  object["beta"] = json_of(std::isfinite(definition.beta) ? std::optional{definition.beta} : std::nullopt);
  object["window"] = definition.window;
  object["policy"] = definition.policy;
  object["seed"] = definition.seed;
  object["max_slowdown"] = json_of(definition.max_slowdown);
  object["device"] = json_of(definition.device);
  return object;
}

JobDefinition job_definition_of(const nlohmann::json& json) {
  const JsonObject object{json, what_definition};
  JobDefinition definition;
  for (const nlohmann::json& size : object.list("batch_sizes", most_members)) {
    if (!size.is_number_integer() || !std::in_range<int>(size.get<std::int64_t>())) {
      object.refuse("batch_sizes", "a list of whole numbers");
    }
    definition.batch_sizes.push_back(size.get<int>());
  }
  definition.default_batch_size = object.whole<int>("default_batch_size");
  if (!object.at("target").is_null()) {
    const JsonObject target{object.at("target"), "a job's target"};
    definition.target =
        JobTarget{.metric = target.number("metric"), .higher_is_better = target.truth("higher_is_better")};
  }
  definition.max_epochs = object.whole<int>("max_epochs");
  definition.eta = object.number("eta");
  definition.beta = object.number_or_null("beta").value_or(std::numeric_limits<double>::infinity());
  definition.window = object.count<std::size_t>("window");
  definition.policy = object.text("policy");
  definition.seed = object.count<std::uint64_t>("seed");
  definition.max_slowdown = object.number_or_null("max_slowdown");
  definition.device = job_device_of(object.at("device"));
  return definition;
}

std::string to_json(const JobDefinition& definition) {
  return one_line(json_of(definition));
}

JobDefinition job_definition_from_json(std::string_view text) {
  return job_definition_of(parsed(text, what_definition));
}

std::string one_line(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

nlohmann::json parsed(std::string_view text, std::string_view what) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception&) {
    throw Error{ErrorKind::corrupt_data, fmt::format("this is not {}: it is no JSON", what)};
  }
}

}  // namespace zeus::records
