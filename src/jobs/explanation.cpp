#include "jobs/explanation.hpp"

#include "base/amount_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace zeus::jobs {

namespace {

using Beliefs = std::vector<std::optional<optimize::CostBelief>>;

// A cost is never negative, though a normal distribution allows it.
std::string range(const optimize::CostBelief& belief) {
  const Joules low = std::max(belief.low, Joules{});
  EnergyColumn costs;
  costs.fit(belief.expected);
  return fmt::format("{} ({})", costs.text(belief.expected), costs.range(low, belief.high));
}

// The batch size with the lowest expected cost other than `arm`.
std::optional<std::size_t> cheapest_other(const Beliefs& beliefs, std::size_t arm) {
  std::optional<std::size_t> cheapest;
  for (std::size_t other = 0; other < beliefs.size(); ++other) {
    if (other != arm && beliefs[other] && (!cheapest || beliefs[other]->expected < beliefs[*cheapest]->expected)) {
      cheapest = other;
    }
  }
  return cheapest;
}

std::string why_run(const records::TryPlan& run, const optimize::RecurringJob& job) {
  const optimize::JobSpec& spec = job.spec();
  if (spec.arms() == 1) {
    return run.limit ? "there is one batch size, and this is its cheapest power limit measured"
                     : "there is one batch size, and its power limits are measured while it trains";
  }
  const std::size_t arm = spec.arm_of(run.batch_size);
  const Beliefs beliefs = job.policy().beliefs(job.profiles());
  const bool believed = arm < beliefs.size() && beliefs[arm].has_value();
  const std::optional<std::size_t> other = cheapest_other(beliefs, arm);
  switch (run.purpose) {
    case records::TryPurpose::explore:
      if (!job.best_cost()) {
        return fmt::format("nothing has reached the target on these devices yet, and {} is where the search begins",
                           run.batch_size);
      }
      if (believed && other) {
        return fmt::format("it may cost less than {}: {} is expected, against {}, and a try will show",
                           spec.batch_sizes[*other], range(*beliefs[arm]), range(*beliefs[*other]));
      }
      return "it has not been tried yet";
    case records::TryPurpose::concurrent:
      return "a try that will show more is still running; until then this is the best known";
    case records::TryPurpose::exploit:
      break;
  }
  if (!believed || !other) {
    return "it is the best known";
  }
  const std::string expected = range(*beliefs[arm]);
  const std::string of_other = range(*beliefs[*other]);
  if (beliefs[arm]->expected <= beliefs[*other]->expected) {
    return fmt::format("it is expected to cost {}; the next best, batch size {}, {}", expected,
                       spec.batch_sizes[*other], of_other);
  }
  return job.policy().name() == "zeus"
             ? fmt::format(
                   "of the costs drawn from the beliefs, its own was the lowest: {} is expected, "
                   "and {} of {}",
                   expected, of_other, spec.batch_sizes[*other])
             : fmt::format("it may cost less than {}: {} is expected, against {}", spec.batch_sizes[*other], expected,
                           of_other);
}

}  // namespace

std::string why(const optimize::Action& action, const JobState& state) {
  if (const auto* asked = std::get_if<records::ProfileAsked>(&action)) {
    std::vector<double> limits;
    for (const Watts limit : asked->limits) {
      limits.push_back(limit.value());
    }
    const std::string of_size =
        state.job().spec().arms() == 1 ? std::string{} : fmt::format(" of batch size {}", asked->batch_size);
    return fmt::format("what an epoch{} costs at {:g} W is unknown on {}", of_size, fmt::join(limits, ", "),
                       to_text(state.device()));
  }
  if (const auto* failed = std::get_if<records::FailedTries>(&action)) {
    return fmt::format("{} tries have failed", failed->tries);
  }
  return why_run(std::get<records::TryPlan>(action), state.job());
}

}  // namespace zeus::jobs
