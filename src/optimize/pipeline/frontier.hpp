// The whole time-energy frontier of a pipeline: for every iteration time from the fastest to the cheapest, the least
// energy and the plan that has it. Immutable once made: any number of threads may ask it at once.
//
// It is stored as the cheapest plan and what changes at each breakpoint, with a checkpoint now and then, so that the
// plan at any time is a checkpoint and a short replay away.
#pragma once

#include "optimize/pipeline/frontier_search.hpp"
#include "optimize/pipeline/trade_off.hpp"
#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

struct FrontierPoint {
  Seconds time;
  Joules energy;
  friend bool operator==(const FrontierPoint&, const FrontierPoint&) = default;
};

// How hard it was: for documentation and benchmarks.
struct SearchEffort {
  std::size_t price_changes = 0;
  std::size_t rate_changes = 0;
  std::int64_t augmentations = 0;
  std::int64_t labellings = 0;
  std::size_t stored_bytes = 0;
};

class Frontier {
 public:
  // Every GPU of every copy draws `blocking_power` whenever it does not compute. Bad graphs and profiles are
  // invalid_argument Errors that name what is wrong.
  Frontier(const records::ComputationGraph& graph, Watts blocking_power);

  // No plan is faster.
  [[nodiscard]] Seconds fastest() const { return time_at(static_cast<double>(sweep_.saved)); }
  // The iteration time at which the energy of all GPUs, blocking ones included, is least. To be slower costs more.
  [[nodiscard]] Seconds least_energy() const { return least_energy_; }
  // Beyond this iteration time nothing becomes cheaper but blocking.
  [[nodiscard]] Seconds slowest() const { return time_at(0.0); }

  // Where the slope changes, from fastest() to slowest(), both included; linear in between.
  [[nodiscard]] std::span<const FrontierPoint> points() const { return points_; }
  // Least energy of one iteration that takes `time`, all GPUs together. Also past slowest(), where GPUs only block for
  // longer; before fastest() it is an invalid_argument Error.
  [[nodiscard]] Joules energy_at(Seconds time) const;

  // Writes the plan with that energy into `durations`, one per computation. Allocates nothing.
  void durations_at(Seconds time, std::span<Seconds> durations) const;
  [[nodiscard]] std::vector<Seconds> durations_at(Seconds time) const;

  [[nodiscard]] std::size_t computations() const { return sweep_.durations.size(); }
  [[nodiscard]] SearchEffort effort() const;

 private:
  // While its rate lasts, a computation takes `base + rate * saved` ticks.
  struct Course {
    Ticks base = 0;
    std::int32_t rate = 0;
  };

  [[nodiscard]] Seconds time_at(double saved) const {
    return Seconds{(static_cast<double>(sweep_.slowest) - saved) / ticks_per_second_};
  }
  void check_reachable(Seconds time) const;
  [[nodiscard]] double saved_at(Seconds time) const;
  void make_points(Joules cheapest, Joules price_unit);
  void make_checkpoints();

  double ticks_per_second_ = 1.0;
  Watts all_blocking_;  // what all GPUs draw together when none computes
  Sweep sweep_;
  Seconds least_energy_;
  std::vector<FrontierPoint> points_;
  std::size_t changes_per_checkpoint_ = 1;
  std::vector<Course> checkpoints_;  // one Course per computation, for each checkpoint
};

}  // namespace zeus::optimize::pipeline
