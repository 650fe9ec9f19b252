#include "run/run_options.hpp"

#include "optimize/batch_size/job_spec.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "run/command_template.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace zeus::run {

namespace {

void require(bool holds, std::string message, std::string advice) {
  if (!holds) {
    throw Error{ErrorKind::invalid_argument, std::move(message), std::move(advice)};
  }
}

void check_batch_sizes(RunOptions& options) {
  const bool any = !options.batch_sizes.empty();
  require(any || !options.default_batch_size, "--default-batch-size needs --batch-sizes", "give both, or neither");
  if (!any) {
    return;
  }
  require(!options.job.empty(), "--batch-sizes needs --job: what was learned is kept under its name",
          "give --job NAME");
  if (!options.default_batch_size && options.batch_sizes.size() == 1) {
    options.default_batch_size = options.batch_sizes.front();
  }
  require(options.default_batch_size.has_value(), "--batch-sizes needs --default-batch-size",
          "say which of them you would use without Zeus");
  require(std::ranges::find(options.batch_sizes, *options.default_batch_size) != options.batch_sizes.end(),
          fmt::format("the default batch size {} is not one of {}", *options.default_batch_size,
                      fmt::join(options.batch_sizes, ",")),
          "name one of them");
}

void check_target(const RunOptions& options) {
  require(!options.target || !options.job.empty(), "--target-metric needs --job: without one, nothing stops or retries",
          "give --job NAME");
}

// A user who trains once should not have to write regular expressions: these fit progress bars (tqdm, Keras, Lightning)
// and lines that count "step 100" or "iter 100".
constexpr const char* usual_step =
    R"((?:^|[ |])(\d+)/\d+ \[\d+:\d+(?::\d+)?<|^ *(\d+)/\d+ +(?:\[|\x{e2}\x{94}\x{81})|(?i:(?:^|[^\w/])(?:step|iter|iteration)s?\b[ :=#\[]*(\d+)))";

}  // namespace

RunOptions checked(RunOptions options) {
  require(!options.command.empty(), "there is no command to run",
          "give one, as in `zeus run -- python train.py`, or a job file, as in `zeus run @nightly`");
  check_batch_sizes(options);
  check_target(options);
  require(options.eta >= 0.0 && options.eta <= 1.0, fmt::format("eta is {}", options.eta),
          "give a number from 0 (time alone) to 1 (energy alone)");
  require(!options.max_slowdown || *options.max_slowdown >= 1.0,
          fmt::format("--max-slowdown {} is below 1", options.max_slowdown.value_or(1.0)),
          "give a factor of at least 1, such as 1.1");
  require(!options.max_epochs || *options.max_epochs >= 1, "--max-epochs is below 1", "give at least 1");
  require(!options.profile_time || *options.profile_time > Seconds{0}, "--profile-seconds is not above 0",
          "give a time such as 5");
  require(options.grace >= Seconds{}, "--grace is below 0", "give a number of seconds such as 10");
  const CommandTemplate command{options.command};
  TryValues values{.batch_size = options.default_batch_size,
                   .learning_rate = {},
                   .seed = options.seed,
                   .epochs = options.max_epochs,
                   .target_metric = options.target ? std::optional{options.target->metric} : std::nullopt};
  if (options.learning_rate) {
    values.learning_rate = options.learning_rate->rate;
  }
  (void)command.fill(values);
  if (options.patterns.step.empty()) {
    options.patterns.step = usual_step;
    options.patterns.counts_alone = true;
    options.usual_steps = true;
  }
  (void)ProgressPatterns{options.patterns};
  return options;
}

namespace {

std::string policy_of(const RunOptions& options) {
  if (!options.policy.empty()) {
    return options.policy;
  }
  // The best policy needs limits to be measured for a few seconds, so it needs visible steps. Where the user described
  // other lines of the command but not its steps, it is unknown whether there will be any.
  const bool steps_may_be_missing =
      options.usual_steps && !(options.patterns.metric.empty() && options.patterns.epoch.empty());
  return steps_may_be_missing ? "zeus" : std::string{optimize::best_policy};
}

}  // namespace

records::JobDefinition definition_of(const RunOptions& options, const records::JobDevice& device,
                                     const records::JobDefinition* known) {
  const bool counts_epochs = options.target || !options.patterns.epoch.empty() || !options.patterns.metric.empty();
  return {.batch_sizes = options.batch_sizes,
          .default_batch_size = options.default_batch_size.value_or(0),
          .target = options.target,
          .max_epochs = options.max_epochs.value_or(counts_epochs ? optimize::most_epochs : 1),
          .eta = options.eta,
          .beta = options.beta,
          .window = options.window,
          .policy = options.policy.empty() && known != nullptr ? known->policy : policy_of(options),
          .seed = options.seed,
          .max_slowdown = options.max_slowdown,
          .learning_rate = options.learning_rate ? std::optional{to_text(*options.learning_rate)} : std::nullopt,
          .zeus = options.zeus == records::ZeusChoices{} ? std::nullopt : std::optional{options.zeus},
          .device = device};
}

}  // namespace zeus::run
