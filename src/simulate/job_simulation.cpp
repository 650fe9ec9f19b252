#include "simulate/job_simulation.hpp"

#include "optimize/recurrence/judgement.hpp"
#include "optimize/recurrence/recurring_job.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::simulate {

namespace {

// Separates the policies' draws from those of the runs they decide about.
constexpr std::uint64_t seed_of_policies = 0x9E3779B97F4A7C15;

class Simulation {
 public:
  Simulation(std::span<const Phase> phases, const SimulationOptions& options, const PolicyFactory& policy,
             std::uint64_t seed, bool keep_events)
      : phases_{phases},
        options_{options},
        seed_{seed},
        keep_events_{keep_events},
        spec_{job_spec(*phases.front().stage, options, seed)},
        job_{spec_, policy(spec_)},
        tried_(spec_.arms(), 0),
        worked_(spec_.arms(), false),
        slots_(static_cast<std::size_t>(std::max(options.in_flight, 1))) {
    result_.recurrences.reserve(options.recurrences);
    result_.tries.reserve(options.recurrences + options.recurrences / 4);
    for (std::uint64_t recurrence = 0; recurrence < options.recurrences; ++recurrence) {
      result_.recurrences.emplace_back();
    }
  }

  SimulatedJob run() {
    for (Slot& slot : slots_) {
      recur(slot);
    }
    while (true) {
      const auto next = std::ranges::min_element(slots_, {}, [](const Slot& slot) {
        return slot.busy ? std::pair{0, slot.end} : std::pair{1, Seconds{}};
      });
      if (!next->busy) {
        return std::move(result_);
      }
      finish(*next);
    }
  }

 private:
  struct Slot {
    bool busy = false;
    std::uint64_t recurrence = 0;
    std::uint64_t try_number = 0;
    Seconds end;
    const Stage* stage = nullptr;
    TryResult result;
    // A training that was begun to measure its limits, if it may continue as the try.
    std::optional<int> under_way = {};  // its batch size
    Stage::UnderWay taken = {};
    std::vector<int> missed = {};  // batch sizes of the recurrence's tries so far
  };

  // The phase of a recurrence; entering one that moves the job is an event.
  const Stage& stage_of(std::uint64_t recurrence) {
    while (phase_ + 1 < phases_.size() && phases_[phase_ + 1].from_recurrence <= recurrence) {
      ++phase_;
      if (!phases_[phase_].device.empty()) {
        apply(records::DeviceChanged{.model = phases_[phase_].device,
                                     .max_power = phases_[phase_].stage->cost().max_power()});
      }
    }
    return *phases_[phase_].stage;
  }

  void apply(records::JobEvent event) {
    job_.apply(event);
    if (keep_events_) {
      result_.events.push_back(std::move(event));
    }
  }

  // Begins the next recurrence, if one is left.
  void recur(Slot& slot) {
    if (started_ < options_.recurrences) {
      slot.recurrence = started_++;
      slot.missed.clear();
      submit(slot);
    }
  }

  void submit(Slot& slot) {
    const Stage& stage = stage_of(slot.recurrence);
    SimulatedRecurrence& sum = result_.recurrences[slot.recurrence];
    sum.optimum = stage.optimum().cost;
    while (true) {
      optimize::Action action = job_.next(slot.recurrence, submissions_);
      if (options_.live) {
        action = optimize::unless_in_vain(std::move(action), slot.missed, std::ranges::count(worked_, true) > 0);
      }
      if (const auto* profile = std::get_if<records::ProfileAsked>(&action)) {
        if (measure(slot, stage, *profile)) {
          continue;
        }
        action = unmeasured(*profile, spec_, stage, job_.profiles());
      }
      const auto* run = std::get_if<records::TryPlan>(&action);
      if (run == nullptr && options_.live) {
        apply(records::RecurrenceAbandoned{.recurrence = slot.recurrence});
        recur(slot);
        return;
      }
      if (run == nullptr) {
        throw Error{ErrorKind::unavailable,
                    fmt::format("{}: recurrence {} failed {} times", stage.workload().name, slot.recurrence + 1,
                                std::get<records::FailedTries>(action).tries),
                    "choose an easier target, more epochs or a larger beta"};
      }
      const std::size_t arm = stage.workload().arm_of(run->batch_size);
      if (slot.under_way != run->batch_size) {
        abandon(slot, stage);
      }
      slot.stage = &stage;
      slot.result = stage.run(*run, seed_, tried_[arm]++,
                              options_.live ? std::optional{std::exchange(slot.taken, {})} : std::nullopt);
      slot.under_way.reset();
      slot.end += slot.result.time;
      slot.busy = true;
      slot.try_number = submissions_++;
      apply(records::TrySubmitted{.try_number = slot.try_number, .recurrence = slot.recurrence, .plan = *run});
      return;
    }
  }

  // Measures limits before a try; false if that is impossible.
  bool measure(Slot& slot, const Stage& stage, const records::ProfileAsked& asked) {
    if (slot.under_way != asked.batch_size) {
      abandon(slot, stage);
    }
    const std::size_t arm = stage.workload().arm_of(asked.batch_size);
    const Mishap mishap = stage.draw(arm, seed_, tried_[arm]).mishap;
    ProfilingResult measured = stage.profile(asked);
    if (mishap.not_measured || mishap.left_alone || !anything_new(job_.profiles(), arm, measured.limits)) {
      slot.under_way = asked.batch_size;
      return false;
    }
    slot.end += measured.time;
    records::LimitsProfiled profiled{.recurrence = slot.recurrence,
                                     .batch_size = asked.batch_size,
                                     .limits = std::move(measured.limits),
                                     .energy = {},
                                     .time = {}};
    if (options_.live) {
      slot.under_way = asked.batch_size;
      slot.taken.energy += measured.energy;
      slot.taken.time += measured.time;
    } else {
      profiled.energy = measured.energy;
      profiled.time = measured.time;
      charge(slot, stage, measured.energy, measured.time);
    }
    apply(std::move(profiled));
    return true;
  }

  // Charges the training under way, which is useless.
  void abandon(Slot& slot, const Stage& stage) {
    if (slot.under_way && slot.taken.time > Seconds{}) {
      charge(slot, stage, slot.taken.energy, slot.taken.time);
      apply(records::LimitsProfiled{.recurrence = slot.recurrence,
                                    .batch_size = *slot.under_way,
                                    .limits = {},
                                    .energy = slot.taken.energy,
                                    .time = slot.taken.time});
    }
    slot.under_way.reset();
    slot.taken = {};
  }

  void charge(const Slot& slot, const Stage& stage, Joules energy, Seconds time) {
    const Joules cost = stage.cost().of(energy, time);
    SimulatedRecurrence& sum = result_.recurrences[slot.recurrence];
    sum.cost += cost;
    sum.expected_cost += cost;
  }

  void finish(Slot& slot) {
    TryResult& result = slot.result;
    const Stage& stage = *slot.stage;
    if (result.outcome == records::TryOutcome::lost) {
      result.outcome = optimize::outcome_of_crash(result.arm == spec_.default_arm(), worked_[result.arm],
                                                  std::ranges::count(worked_, true) > 0);
    }
    worked_[result.arm] = worked_[result.arm] || reached(result.outcome);
    const int batch_size = stage.workload().arms[result.arm].batch_size;
    if (result.profiled && result.epochs > 0 && &stage == phases_[phase_].stage) {
      apply(records::LimitsProfiled{.recurrence = slot.recurrence,
                                    .batch_size = batch_size,
                                    .limits = stage.limits(result.arm),
                                    .energy = {},
                                    .time = {}});
    }
    apply(records::TryEnded{.try_number = slot.try_number,
                            .recurrence = slot.recurrence,
                            .batch_size = batch_size,
                            .outcome = result.left_out ? records::TryOutcome::lost : result.outcome,
                            .epochs = result.epochs,
                            .energy = result.energy,
                            .time = result.time});
    result_.tries.push_back({.recurrence = slot.recurrence, .result = result});
    SimulatedRecurrence& sum = result_.recurrences[slot.recurrence];
    sum.cost += result.cost;
    sum.expected_cost += result.expected_cost;
    slot.busy = false;
    // A lost try ends its recurrence, and so does one that reached the target but is left out.
    const bool lost = result.outcome == records::TryOutcome::lost;
    if (lost || (result.left_out && reached(result.outcome))) {
      apply(records::RecurrenceAbandoned{.recurrence = slot.recurrence});
    }
    if (!lost && !reached(result.outcome)) {
      slot.missed.push_back(batch_size);
      if (slot.try_number == 0 && !options_.live) {
        throw Error{ErrorKind::unavailable,
                    fmt::format("{}: the first run, at the default batch size {}, did not reach the target",
                                stage.workload().name, batch_size),
                    "choose an easier target, another default batch size or more epochs"};
      }
      submit(slot);
      return;
    }
    sum.last_expected = lost ? Joules{} : stage.expected_cost(result.arm, result.limit);
    recur(slot);
  }

  std::span<const Phase> phases_;
  SimulationOptions options_;
  std::uint64_t seed_;
  bool keep_events_;
  optimize::JobSpec spec_;
  optimize::RecurringJob job_;
  std::vector<std::uint64_t> tried_;
  std::vector<bool> worked_;
  std::vector<Slot> slots_;
  std::size_t phase_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t submissions_ = 0;
  SimulatedJob result_;
};

}  // namespace

optimize::JobSpec job_spec(const Stage& stage, const SimulationOptions& options, std::uint64_t seed) {
  return optimize::checked({.batch_sizes = stage.workload().batch_sizes(),
                            .default_batch_size = stage.workload().default_batch_size,
                            .power_limits = stage.workload().limits(),
                            .max_power = stage.cost().max_power(),
                            .max_epochs = stage.workload().max_epochs,
                            .eta = stage.cost().eta(),
                            .beta = options.beta,
                            .window = options.window,
                            .seed = seed ^ seed_of_policies,
                            .priors = {}});
}

bool anything_new(const optimize::ProfileBook& profiles, std::size_t arm,
                  std::span<const records::LimitProfile> measured) {
  return std::ranges::any_of(
      measured, [&](const records::LimitProfile& one) { return profiles.find(arm, one.limit) == nullptr; });
}

records::TryPlan unmeasured(const records::ProfileAsked& asked, const optimize::JobSpec& spec, const Stage& stage,
                            const optimize::ProfileBook& profiles) {
  records::TryPlan run = optimize::unmeasured(asked, spec);
  const std::size_t arm = stage.workload().arm_of(asked.batch_size);
  if (stage.profile({.batch_size = asked.batch_size, .limits = {*run.limit}}).limits.empty()) {
    const bool known = !profiles.limits(arm).empty();
    run.limit = known ? std::optional{profiles.best(arm).limit} : std::nullopt;
  }
  return run;
}

SimulatedJob simulate_job(std::span<const Phase> phases, const SimulationOptions& options, const PolicyFactory& policy,
                          std::uint64_t seed, bool keep_events) {
  return Simulation{phases, options, policy, seed, keep_events}.run();
}

}  // namespace zeus::simulate
