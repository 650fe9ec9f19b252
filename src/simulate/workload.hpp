// A workload that can be replayed: for each batch size what an epoch takes under each limit, and how many epochs the
// recorded runs took. The rules are those of the NSDI'23 artifact's traces, restated in docs/policies.md.
// A plain value; safe to read from any thread.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "records/limit_profile.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::simulate {

// What goes wrong with a run. Traces know nothing of it; it is made up.
struct Mishap {
  bool misses = false;                    // its target, however many epochs it has
  std::optional<int> crashes_after = {};  // so many epochs
  bool not_measured = false;              // its power limits cannot be measured, and stay as they are until it is over
  bool left_alone = false;  // others hold its power limits: it is recorded, and left out of what is believed
};

// One batch size. `runs` are the epochs each recorded run took to the target, ascending; the runs that never reached it
// come last.
struct WorkloadArm {
  int batch_size = 0;
  std::vector<records::LimitProfile> limits;  // ascending
  std::vector<std::optional<int>> runs;       // not empty
  std::vector<Mishap> mishaps = {};           // of each of `runs`; empty where nothing goes wrong

  // Whether all runs, or at least one, reach the target within that many epochs.
  [[nodiscard]] bool always_reaches(int max_epochs) const;
  [[nodiscard]] bool ever_reaches(int max_epochs) const;
  // The mean epochs of the runs that reach the target within that many; there is at least one.
  [[nodiscard]] double mean_epochs(int max_epochs) const;
};

struct Workload {
  std::string name;
  std::vector<WorkloadArm> arms;  // ascending by batch size
  int max_epochs = 0;
  int default_batch_size = 0;
  Watts max_limit;  // the largest limit of one GPU
  Watts max_power;  // MAXPOWER of the cost: that of all GPUs of the job together

  [[nodiscard]] std::size_t arm_of(int batch_size) const;
  [[nodiscard]] std::size_t limit_of(std::size_t arm, Watts limit) const;
  // All limits that some batch size was measured under, ascending.
  [[nodiscard]] std::vector<Watts> limits() const;
  [[nodiscard]] std::vector<int> batch_sizes() const;
};

// What of a trace is the job.
struct JobSelection {
  std::string dataset;
  std::string network;
  std::string optimizer;
  double target_metric = 0.0;
  int max_epochs = 0;
  int default_batch_size = 0;
};

// Joins a training trace and a power trace. Errors name the file: an unknown workload or target, no batch size in both
// (each of these says what there is), two measurements of one configuration, a default batch size or its maximum limit
// that is missing.
Workload select_workload(const trace::TrainTrace& train, const trace::PowerTrace& power, const JobSelection& job);

// The same workload on that many GPUs side by side, each of which takes the time and the power that one takes.
Workload on_gpus(Workload workload, int gpus);

// Leaves both workloads the batch sizes and the limits that they have in common, so that a job can move from one's GPUs
// to the other's. The first one's default batch size must be among them, and a limit: an invalid_argument Error if not.
void keep_common(Workload& from, Workload& to);

// A configuration and what a run of it takes on average, over the runs that reach the target.
struct Configuration {
  std::size_t arm = 0;
  std::size_t limit = 0;
  Joules cost;
  Joules energy;
  Seconds time;
};

// The mean of a configuration; its arm must reach the target at least once.
Configuration mean_of(const Workload& workload, const optimize::EnergyTimeCost& cost, std::size_t arm,
                      std::size_t limit);
// The least mean cost among the batch sizes all of whose runs reach the target; an Error when there is none.
Configuration optimum(const Workload& workload, const optimize::EnergyTimeCost& cost);
// The default batch size at the maximum power limit; an Error when it never reaches the target.
Configuration default_configuration(const Workload& workload, const optimize::EnergyTimeCost& cost);

}  // namespace zeus::simulate
