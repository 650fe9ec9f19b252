// A workload for replay: for each batch size the time and power of an epoch under each limit, and the epochs of the
// recorded runs. The rules are those of the NSDI'23 artifact's traces, restated in docs/policies.md.
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

// A failure of a run. Traces contain none; it is made up.
struct Mishap {
  bool misses = false;                    // misses its target, however many epochs it runs
  std::optional<int> crashes_after = {};  // after this many epochs
  bool not_measured = false;              // its power limits cannot be measured, and stay unchanged until it ends
  bool left_alone = false;  // other processes hold its power limits: it is recorded, and left out of beliefs
};

// One batch size. `runs` are the epochs to the target of each recorded run, ascending; runs that never reached it come
// last.
struct WorkloadArm {
  int batch_size = 0;
  std::vector<records::LimitProfile> limits;  // ascending
  std::vector<std::optional<int>> runs;       // must not be empty
  std::vector<Mishap> mishaps = {};           // one for each of `runs`; empty if nothing goes wrong

  // Whether all runs, or at least one, reach the target within this many epochs.
  [[nodiscard]] bool always_reaches(int max_epochs) const;
  [[nodiscard]] bool ever_reaches(int max_epochs) const;
  // The mean epochs of the runs that reach the target within this many; there must be one.
  [[nodiscard]] double mean_epochs(int max_epochs) const;
};

struct Workload {
  std::string name;
  std::vector<WorkloadArm> arms;  // ascending by batch size
  int max_epochs = 0;
  int default_batch_size = 0;
  Watts max_limit;  // the largest limit of one GPU
  Watts max_power;  // MAXPOWER of the cost: of all GPUs of the job together

  [[nodiscard]] std::size_t arm_of(int batch_size) const;
  [[nodiscard]] std::size_t limit_of(std::size_t arm, Watts limit) const;
  // All limits that any batch size was measured under, ascending.
  [[nodiscard]] std::vector<Watts> limits() const;
  [[nodiscard]] std::vector<int> batch_sizes() const;
};

// Selects the job in a trace.
struct JobSelection {
  std::string dataset;
  std::string network;
  std::string optimizer;
  double target_metric = 0.0;
  int max_epochs = 0;
  int default_batch_size = 0;
};

// Joins a training trace and a power trace. Errors name the file: an unknown workload or target, no batch size in both
// (each of these lists what there is), two measurements of one configuration, or a default batch size or maximum limit
// that is missing.
Workload select_workload(const trace::TrainTrace& train, const trace::PowerTrace& power, const JobSelection& job);

// The same workload on several GPUs side by side, each of which takes the time and power of one.
Workload on_gpus(Workload workload, int gpus);

// Reduces both workloads to the batch sizes and limits that they share, so that a job can move from one's GPUs to the
// other's. They must share the first one's default batch size and a limit: an invalid_argument Error if not.
void keep_common(Workload& from, Workload& to);

// A configuration and the mean cost of its runs that reach the target.
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
// The lowest mean cost among the batch sizes whose runs all reach the target; an Error if there is none.
Configuration optimum(const Workload& workload, const optimize::EnergyTimeCost& cost);
// The default batch size at the maximum power limit; an Error if it never reaches the target.
Configuration default_configuration(const Workload& workload, const optimize::EnergyTimeCost& cost);

}  // namespace zeus::simulate
