// A workload as one policy's simulation sees it: the costs of its configurations for one eta, computed once, and the
// outcome of any try as a pure function of the seed, the batch size and the number of its earlier tries. Immutable;
// shared by any number of simulations on any threads. It keeps a pointer to its workload, which must outlive it.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_event.hpp"
#include "simulate/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zeus::simulate {

// The result of a try.
struct TryResult {
  std::size_t arm = 0;
  std::size_t limit = 0;  // it ran under, from the second epoch on if it profiled
  bool profiled = false;  // its first epoch measured all limits
  bool left_out = false;  // of beliefs
  records::TryOutcome outcome = records::TryOutcome::reached;
  int epochs = 0;
  Joules energy;
  Seconds time;
  Joules cost;
  Joules expected_cost;  // of its configuration if it reached the target, plus profiling; otherwise `cost`
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

  // A run from a trace: its outcome without a policy.
  struct Draw {
    std::optional<int> needed;  // epochs to the target
    Mishap mishap;
  };
  [[nodiscard]] Draw draw(std::size_t arm, std::uint64_t seed, std::uint64_t nth) const;
  // The totals of a training before it became the try.
  struct UnderWay {
    Joules energy;
    Seconds time;
  };
  // Carries an action out, as the `nth` try (from 0) of its batch size. With `under_way`, as in live trainings,
  // measuring belongs to the try and counts against its budget. Without it, the budget covers only the try's epochs.
  [[nodiscard]] TryResult run(const records::TryPlan& action, std::uint64_t seed, std::uint64_t nth,
                              const std::optional<UnderWay>& under_way = {}) const;
  // Measures limits beforehand: 5 s of each, or an equal share of one epoch if that is less. Leaves out limits that
  // were not measured at this batch size.
  [[nodiscard]] ProfilingResult profile(const records::ProfileAsked& action) const;
  // All limits of an arm, as measured by a try's first epoch.
  [[nodiscard]] const std::vector<records::LimitProfile>& limits(std::size_t arm) const {
    return workload_->arms[arm].limits;
  }

 private:
  struct Table {
    std::vector<Joules> epoch_costs;  // by limit
    std::size_t cheapest = 0;
    double mean_epochs = 0.0;  // 0 if no run reaches the target
    records::LimitProfile profiling_epoch;
  };

  const Workload* workload_;
  optimize::EnergyTimeCost cost_;
  Configuration optimum_;
  Configuration default_;
  std::vector<Table> tables_;
};

}  // namespace zeus::simulate
