// A workload as one policy's simulation meets it: the costs of its configurations for one eta, worked out once, and the
// outcome of any try as a pure function of (seed, batch size, how many tries of it came before). Immutable; shared by
// any number of simulations on any threads. It keeps a pointer to its workload, which must outlive it.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_event.hpp"
#include "simulate/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zeus::simulate {

// What came of a try.
struct TryResult {
  std::size_t arm = 0;
  std::size_t limit = 0;  // that it ran under, from the second epoch on where it profiled
  bool profiled = false;  // its first epoch measured all limits
  bool left_out = false;  // of what is believed
  records::TryOutcome outcome = records::TryOutcome::reached;
  int epochs = 0;
  Joules energy;
  Seconds time;
  Joules cost;
  Joules expected_cost;  // of its configuration where it reached the target, with what profiling added; else `cost`
};

struct ProfilingResult {
  std::vector<records::LimitProfile> limits;
  Joules energy;
  Seconds time;
};

class Stage {
 public:
  Stage(const Workload& workload, double eta);

  [[nodiscard]] const Workload& workload() const { return *workload_; }
  [[nodiscard]] const optimize::EnergyTimeCost& cost() const { return cost_; }
  [[nodiscard]] const Configuration& optimum() const { return optimum_; }
  [[nodiscard]] const Configuration& default_configuration() const { return default_; }
  // The mean cost of a configuration, over the runs that reach the target.
  [[nodiscard]] Joules expected_cost(std::size_t arm, std::size_t limit) const {
    return tables_[arm].epoch_costs[limit] * tables_[arm].mean_epochs;
  }

  // A run as a trace has it: what became of it once, without a policy.
  struct Draw {
    std::optional<int> needed;  // epochs to the target
    Mishap mishap;
  };
  [[nodiscard]] Draw draw(std::size_t arm, std::uint64_t seed, std::uint64_t nth) const;
  // What a training has taken before it became the try.
  struct UnderWay {
    Joules energy;
    Seconds time;
  };
  // Carries an action out, as the `nth` try (from 0) of its batch size. With `under_way` as live trainings do: what
  // measuring took is the try's own and counts against its budget. Without, it does not: the try is stopped by its
  // epochs alone.
  [[nodiscard]] TryResult run(const optimize::RunAction& action, std::uint64_t seed, std::uint64_t nth,
                              const std::optional<UnderWay>& under_way = {}) const;
  // Measures limits beforehand: 5 s of each, or an equal share of one epoch where that is less. Limits that this batch
  // size was not measured under are left out.
  [[nodiscard]] ProfilingResult profile(const optimize::ProfileAction& action) const;
  // All limits of an arm, as a try's first epoch measures them.
  [[nodiscard]] const std::vector<records::LimitProfile>& limits(std::size_t arm) const {
    return workload_->arms[arm].limits;
  }

 private:
  struct Table {
    std::vector<Joules> epoch_costs;  // by limit
    std::size_t cheapest = 0;
    double mean_epochs = 0.0;  // 0 when no run reaches the target
    records::LimitProfile profiling_epoch;
  };

  const Workload* workload_;
  optimize::EnergyTimeCost cost_;
  Configuration optimum_;
  Configuration default_;
  std::vector<Table> tables_;
};

}  // namespace zeus::simulate
