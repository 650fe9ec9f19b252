#include "optimize/recurrence/recurring_job.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::optimize {

namespace {

// After this many failures of a recurrence, the least cost of the past no longer applies: the job has become more
// expensive. The bound is dropped and starts again; otherwise every recurrence from now on would fail.
constexpr int failures_that_lift_the_bound = 5;

// The batch size of an event or an action; 0 if it has none.
int batch_size_of(const auto& event_or_action) {
  return std::visit(
      [](const auto& known) {
        if constexpr (requires { known.batch_size; }) {
          return known.batch_size;
        } else if constexpr (requires { known.plan; }) {
          return known.plan.batch_size;
        } else {
          return 0;
        }
      },
      event_or_action);
}

}  // namespace

records::TryPlan unmeasured(const records::ProfileAsked& asked, const JobSpec& spec) {
  return {.batch_size = asked.batch_size,
          .limit = asked.limits.back(),
          .max_epochs = spec.max_epochs,
          .purpose = records::TryPurpose::explore};
}

Action unless_in_vain(Action action, std::span<const int> missed, bool ever_reached) {
  if (!ever_reached && std::ranges::count(missed, batch_size_of(action)) > 0) {
    return records::FailedTries{.tries = static_cast<int>(missed.size()), .never_reached = true};
  }
  return action;
}

RecurringJob::RecurringJob(JobSpec spec, std::unique_ptr<Policy> policy)
    : spec_{std::move(spec)}, profiles_{spec_}, policy_{std::move(policy)} {
}

RecurringJob::RecurringJob(const RecurringJob& other)
    : spec_{other.spec_},
      profiles_{other.profiles_},
      policy_{other.policy_->clone()},
      open_{other.open_},
      least_cost_{other.least_cost_},
      recent_costs_{other.recent_costs_},
      oldest_{other.oldest_} {
}

std::optional<Joules> RecurringJob::best_cost() const {
  if (spec_.window == 0) {
    return least_cost_;
  }
  if (recent_costs_.empty()) {
    return std::nullopt;
  }
  return std::ranges::min(recent_costs_);
}

const RecurringJob::Open* RecurringJob::find(std::uint64_t recurrence) const {
  const auto place = std::ranges::find(open_, recurrence, &Open::recurrence);
  return place == open_.end() ? nullptr : &*place;
}

RecurringJob::Open& RecurringJob::open(std::uint64_t recurrence) {
  const auto place = std::ranges::find(open_, recurrence, &Open::recurrence);
  if (place != open_.end()) {
    return *place;
  }
  return open_.emplace_back(Open{.recurrence = recurrence, .spent = {}, .failures = 0});
}

void RecurringJob::close(std::uint64_t recurrence) {
  std::erase_if(open_, [recurrence](const Open& other) { return other.recurrence == recurrence; });
}

void RecurringJob::remember(Joules cost) {
  if (spec_.window == 0) {
    least_cost_ = std::min(cost, least_cost_.value_or(cost));
  } else if (recent_costs_.size() < spec_.window) {
    recent_costs_.push_back(cost);
  } else {
    recent_costs_[oldest_] = cost;
    oldest_ = (oldest_ + 1) % spec_.window;
  }
}

void RecurringJob::end_try(const records::TryEnded& ended) {
  Open& current = open(ended.recurrence);
  current.spent += profiles_.cost().of(ended.energy, ended.time);
  if (reached(ended.outcome)) {
    if (current.failures >= failures_that_lift_the_bound) {
      least_cost_.reset();
      recent_costs_.clear();
      oldest_ = 0;
    }
    remember(current.spent);
    close(ended.recurrence);
    return;
  }
  ++current.failures;
}

void RecurringJob::apply(const records::JobEvent& event) {
  const int batch_size = batch_size_of(event);
  if (batch_size != 0 && !std::ranges::binary_search(spec_.batch_sizes, batch_size)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("an event is about batch size {}, which is not in the job's set", batch_size),
                "apply the events of this job only"};
  }
  if (const auto* profiled = std::get_if<records::LimitsProfiled>(&event)) {
    profiles_.add(spec_.arm_of(batch_size), profiled->limits);
    if (profiled->time > Seconds{} || profiled->energy > Joules{}) {
      open(profiled->recurrence).spent += profiles_.cost().of(profiled->energy, profiled->time);
    }
  } else if (const auto* seen = std::get_if<records::EpochSeen>(&event)) {
    profiles_.follow(spec_.arm_of(batch_size),
                     {.limit = seen->limit, .epoch_time = seen->epoch_time, .average_power = seen->average_power});
  } else if (const auto* start = std::get_if<records::StartSeen>(&event)) {
    profiles_.begin_with(profiles_.cost().of(start->energy, start->time));
  } else if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    profiles_.restart(changed->max_power);
    spec_.move_to(*changed);
    least_cost_.reset();
    recent_costs_.clear();
    oldest_ = 0;
  } else if (const auto* ended = std::get_if<records::TryEnded>(&event)) {
    end_try(*ended);
  } else if (const auto* abandoned = std::get_if<records::RecurrenceAbandoned>(&event)) {
    close(abandoned->recurrence);
  }
  policy_->apply(event, profiles_);
}

void RecurringJob::save(StateWriter& writer) const {
  state(writer, *this);
  profiles_.save(writer);
  policy_->save(writer);
}

void RecurringJob::restore(StateReader& reader) {
  state(reader, *this);
  profiles_.restore(reader);
  policy_->restore(reader);
}

Action RecurringJob::next(std::uint64_t recurrence, std::uint64_t number) const {
  const Open* const current = find(recurrence);
  const int failures = current == nullptr ? 0 : current->failures;
  if (failures >= most_tries_of_a_recurrence) {
    return records::FailedTries{.tries = failures};
  }
  const std::optional<Joules> best = failures < failures_that_lift_the_bound ? best_cost() : std::nullopt;
  const Decision decision = policy_->decide({.number = number,
                                             .recurrence = recurrence,
                                             .spent = current == nullptr ? Joules{} : current->spent,
                                             .tries = failures,
                                             .best = best},
                                            profiles_);
  if (const auto* profile = std::get_if<ProfileLimits>(&decision)) {
    return records::ProfileAsked{.batch_size = spec_.batch_sizes[profile->arm], .limits = profile->limits};
  }
  const RunTry& run = std::get<RunTry>(decision);
  records::TryPlan plan{.batch_size = spec_.batch_sizes[run.arm],
                        .limit = run.limit,
                        .max_epochs = std::min(run.max_epochs.value_or(spec_.max_epochs), spec_.max_epochs),
                        .purpose = run.purpose};
  if (!plan.limit && !run.profile && profiles_.profiled(run.arm)) {
    plan.limit = profiles_.best(run.arm).limit;
  }
  if (best && std::isfinite(spec_.beta)) {
    plan.budget = spec_.beta * std::max(*best, run.usual_cost.value_or(*best));
  }
  return plan;
}

}  // namespace zeus::optimize
