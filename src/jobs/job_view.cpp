#include "jobs/job_view.hpp"

#include "jobs/explanation.hpp"
#include "jobs/settling.hpp"

#include <algorithm>
#include <utility>

namespace zeus::jobs {

namespace {

std::vector<records::ArmView> arms_of(const JobAccount& account) {
  const JobState& state = account.state();
  const optimize::JobSpec& spec = state.job().spec();
  const auto beliefs = state.job().policy().beliefs(state.job().profiles());
  std::vector<records::ArmView> arms;
  for (std::size_t arm = 0; arm < spec.arms(); ++arm) {
    records::ArmView view{.batch_size = spec.batch_sizes[arm],
                          .is_default = spec.batch_sizes[arm] == spec.default_batch_size,
                          .expected_cost = {},
                          .low_cost = {},
                          .high_cost = {},
                          .expected_epochs = {},
                          .limits = {},
                          .best_limit = {}};
    if (arm < beliefs.size() && beliefs[arm]) {
      view.expected_cost = beliefs[arm]->expected;
      view.low_cost = beliefs[arm]->low;
      view.high_cost = beliefs[arm]->high;
      view.expected_epochs = beliefs[arm]->epochs;
    }
    const auto limits = state.job().profiles().limits(arm);
    view.limits.assign(limits.begin(), limits.end());
    if (!view.limits.empty()) {
      view.best_limit = state.job().profiles().best(arm).limit;
    }
    const JobAccount::Ended ended = account.ended(view.batch_size);
    view.reached = ended.reached;
    view.stopped = ended.stopped;
    view.running = static_cast<int>(std::ranges::count_if(state.open(), [&](const OpenRecurrence& open) {
      return open.running && open.running->batch_size == view.batch_size;
    }));
    arms.push_back(std::move(view));
  }
  return arms;
}

records::NextView next_of(const JobState& state) {
  const optimize::Action action = state.job().next(state.recurrences(), state.tries());
  records::NextView next{.limit = {}, .profiles = {}, .max_epochs = {}, .budget = {}, .why = why(action, state)};
  if (const auto* run = std::get_if<records::TryPlan>(&action)) {
    next.kind = records::NextKind::run;
    next.batch_size = run->batch_size;
    next.purpose = run->purpose;
    next.limit = run->limit;
    next.max_epochs = run->max_epochs;
    next.budget = run->budget;
  } else if (const auto* asked = std::get_if<records::ProfileAsked>(&action)) {
    next.kind = records::NextKind::profile;
    next.batch_size = asked->batch_size;
    next.purpose = records::TryPurpose::explore;
    next.profiles = asked->limits;
  } else {
    next.kind = records::NextKind::give_up;
  }
  return next;
}

std::vector<records::RunningSummary> running_of(const JobState& state) {
  std::vector<records::RunningSummary> all;
  for (const OpenRecurrence& open : state.open()) {
    records::RunningSummary& one = all.emplace_back(records::RunningSummary{.recurrence = open.number + 1,
                                                                            .host = open.owner.host,
                                                                            .pid = open.owner.process.pid,
                                                                            .command = open.owner.process.command,
                                                                            .user = open.user,
                                                                            .try_number = {}});
    if (open.running) {
      one.try_number = open.running->number + 1;
      one.batch_size = open.running->batch_size;
      one.epochs = open.running->epochs;
    }
  }
  return all;
}

}  // namespace

records::JobView view_of(const store::StoredJob& job, const JobAccount& account) {
  const JobState& state = account.state();
  records::JobView view{.name = job.name,
                        .definition = state.definition(),
                        .device = state.device(),
                        .created = job.created,
                        .entries = state.sequence(),
                        .recurrences = {},
                        .tries = {},
                        .arms = arms_of(account),
                        .best_cost = state.job().best_cost(),
                        .next = next_of(state),
                        .spent = account.spent(),
                        .savings = account.savings(),
                        .savings_last = account.savings_of_last(),
                        .savings_unknown = account.savings_unknown()};
  for (const RecurrenceAccount& kept : account.recurrences()) {
    view.recurrences.push_back(account.shown(kept));
  }
  for (const TryAccount& kept : account.tries()) {
    view.tries.push_back(kept.view);
  }
  view.settled = settled_on(view, state.job());
  return view;
}

records::JobSummary summary_of(const store::StoredJob& job, const JobAccount& account) {
  const JobState& state = account.state();
  const records::SpentView spent = account.spent();
  const std::optional<records::SavingsView> savings = account.savings();
  return {.name = job.name,
          .created = job.created,
          .changed = state.sequence() == 0 ? job.created : account.changed(),
          .entries = state.sequence(),
          .device = to_text(state.device()),
          .has_batch_sizes = !state.definition().batch_sizes.empty(),
          .recurrences = state.recurrences(),
          .reached = account.reached(),
          .given_up = account.given_up(),
          .tries = state.tries(),
          .running = running_of(state),
          .next = next_of(state),
          .took = {.energy = spent.energy, .time = spent.time, .cost = spent.cost},
          .took_uncertainty = spent.energy_uncertainty,
          .energy_unknown = spent.energy_unknown,
          .savings = savings,
          .savings_unknown = savings ? std::string{} : account.savings_unknown(),
          .counted = account.counted()};
}

}  // namespace zeus::jobs
