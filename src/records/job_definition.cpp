#include "records/job_definition.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zeus::records {

namespace {

std::string words(const std::optional<JobTarget>& target) {
  return target ? fmt::format("{} or {}", target->metric, target->higher_is_better ? "more" : "less") : "none";
}

template <typename Value>
std::string words(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

std::string words(const std::vector<int>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

template <typename Value>
std::string words(const Value& value) {
  return fmt::format("{}", value);
}

template <typename Value>
std::string setting(std::string_view key, const Value& value) {
  return fmt::format("{} = {}", key, value);
}
std::string setting(std::string_view key, const std::string& value) {
  return fmt::format("{} = \"{}\"", key, value);
}
std::string setting(std::string_view key, const std::vector<int>& value) {
  return fmt::format("{} = [{}]", key, fmt::join(value, ","));
}
template <typename Value>
std::string setting(std::string_view key, const std::optional<Value>& value) {
  return value ? setting(key, *value) : std::string{};
}
std::string setting(std::string_view key, const std::optional<JobTarget>& target) {
  return target ? fmt::format("{} = {}\nhigher_is_better = {}", key, target->metric, target->higher_is_better)
                : std::string{};
}

template <typename Value>
void compare(std::vector<DefinitionChange>& all, std::string_view key, std::string_view what, const Value& kept,
             const Value& asked) {
  if (!(kept == asked)) {
    all.push_back({.key = key,
                   .sentence = fmt::format("{} {}, not {}", what, words(kept), words(asked)),
                   .was = words(kept),
                   .now = words(asked),
                   .setting = setting(key, asked)});
  }
}

}  // namespace

std::string to_text(const JobDevice& device) {
  return fmt::format("{} x {}", device.gpus, device.model);
}

std::vector<DefinitionChange> differences(const JobDefinition& kept, const JobDefinition& asked) {
  std::vector<DefinitionChange> all;
  compare(all, "batch_sizes", "its batch sizes are", kept.batch_sizes, asked.batch_sizes);
  compare(all, "default_batch_size", "its default batch size is", kept.default_batch_size, asked.default_batch_size);
  compare(all, "target_metric", "its target is", kept.target, asked.target);
  compare(all, "max_epochs", "its maximum of epochs is", kept.max_epochs, asked.max_epochs);
  compare(all, "eta", "its eta is", kept.eta, asked.eta);
  compare(all, "beta", "its beta is", kept.beta, asked.beta);
  compare(all, "window", "its window is", kept.window, asked.window);
  compare(all, "policy", "its policy is", kept.policy, asked.policy);
  compare(all, "seed", "its seed is", kept.seed, asked.seed);
  compare(all, "max_slowdown", "its largest slowdown is", kept.max_slowdown, asked.max_slowdown);
  const ZeusChoices was = kept.zeus.value_or(ZeusChoices{});
  const ZeusChoices now = asked.zeus.value_or(ZeusChoices{});
  compare(all, "pruning_rounds", "its rounds of pruning are", was.pruning_rounds, now.pruning_rounds);
  compare(all, "explorations", "its explorations of a batch size are", was.explorations, now.explorations);
  compare(all, "prior_cost_j", "its prior cost is", was.prior_cost.value(), now.prior_cost.value());
  compare(all, "prior_precision", "its prior precision is", was.prior_precision, now.prior_precision);
  if (kept.learning_rate && kept.learning_rate != asked.learning_rate) {
    compare(all, "learning_rate", "its learning rate is", kept.learning_rate, asked.learning_rate);
    // Two keys stand for it in a job file.
    if (const std::size_t space = all.back().setting.find(' ', std::string_view{"learning_rate = "}.size());
        space != std::string::npos) {
      all.back().setting.replace(space, 1, "\"\nlr_scaling = \"");
    }
  }
  return all;
}

std::string to_json(const JobDefinition& definition) {
  return json_line(definition);
}

JobDefinition job_definition_from_json(std::string_view text) {
  return record_from_json<JobDefinition>(text, {.refusal = "this is not a job's definition"});
}

}  // namespace zeus::records
