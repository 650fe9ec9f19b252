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

std::string to_json(const JobDefinition& definition) {
  return json_line(definition);
}

JobDefinition job_definition_from_json(std::string_view text) {
  return record_from_json<JobDefinition>(text, {.refusal = "this is not a job's definition"});
}

}  // namespace zeus::records
