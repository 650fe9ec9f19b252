// The whole time-energy frontier of a pipeline: the least energy, and the plan that achieves it, for every iteration
// time from the fastest to the cheapest. Immutable once made: any number of threads may call it at once.
//
// It stores the cheapest plan, what changes at each breakpoint, and a checkpoint every few hundred changes. The plan at
// any time is a checkpoint and a short replay away.
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

// The size of the search, for documentation and benchmarks.
struct SearchEffort {
  std::size_t price_changes = 0;
  std::size_t rate_changes = 0;
  std::int64_t augmentations = 0;
  std::int64_t labellings = 0;
  std::size_t stored_bytes = 0;
};

class Frontier {
 public:
  // Every GPU of every copy draws `blocking_power` whenever it does not compute. Invalid graphs and profiles are
  // invalid_argument Errors that name what is wrong.
  Frontier(const records::ComputationGraph& graph, Watts blocking_power);

  // No plan is faster than this.
  [[nodiscard]] Seconds fastest() const { return time_at(static_cast<double>(sweep_.saved)); }
  // The iteration time at which the energy of all GPUs, blocking included, is least. Slower iterations cost more.
  [[nodiscard]] Seconds least_energy() const { return least_energy_; }
  // Beyond this iteration time the only change is more blocking.
  [[nodiscard]] Seconds slowest() const { return time_at(0.0); }

  // The points at which the slope changes, from fastest() to slowest(), both included. The frontier is linear between
  // them.
  [[nodiscard]] std::span<const FrontierPoint> points() const { return points_; }
  // The least energy of one iteration that takes `time`, all GPUs together. Beyond slowest() GPUs only block for
  // longer. Below fastest() it is an invalid_argument Error.
  [[nodiscard]] Joules energy_at(Seconds time) const;

  // Writes the plan with that energy into `durations`, one entry per computation. Allocates nothing.
  void durations_at(Seconds time, std::span<Seconds> durations) const;
  [[nodiscard]] std::vector<Seconds> durations_at(Seconds time) const;

  [[nodiscard]] std::size_t computations() const { return sweep_.durations.size(); }
  [[nodiscard]] SearchEffort effort() const;

 private:
  // A computation takes `base + rate * saved` ticks until its rate changes.
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
  Watts all_blocking_;  // what all GPUs together draw while none computes
  Sweep sweep_;
  Seconds least_energy_;
  std::vector<FrontierPoint> points_;
  std::size_t changes_per_checkpoint_ = 1;
  std::vector<Course> checkpoints_;  // one Course per computation for each checkpoint
};

}  // namespace zeus::optimize::pipeline
