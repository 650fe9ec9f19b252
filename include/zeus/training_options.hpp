// What a Training (zeus/train.hpp) is to do. Plain values, made by the user and copied by the Training.
#pragma once

#include <zeus/collective.hpp>
#include <zeus/measure.hpp>
#include <zeus/power.hpp>
#include <zeus/power_choice.hpp>
#include <zeus/slice_meter.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace zeus {

enum class TrainingMode {
  optimize,  // profile, then apply what the goal likes best
  observe,   // profile, but set limits inside profiling slices only, and say what the optimum would have cost
  passive,   // set nothing at all; say what the optimum would have cost where a profile is known
};

struct TrainingTarget {
  double metric = 0;
  bool higher_is_better = true;
};

// Sets power limits where this process may not: the client of a daemon, say.
class LimitSetter {
 public:
  LimitSetter() = default;
  LimitSetter(const LimitSetter&) = delete;
  LimitSetter& operator=(const LimitSetter&) = delete;
  virtual ~LimitSetter() = default;

  // Of the GPU with this number, in force when it returns. An exception says why it is refused.
  virtual void set_power_limit(int gpu, Watts limit) = 0;
};

// Which power settings are tried, and how much is measured of each.
struct ProfilingOptions {
  PowerProfiling plan = {};
  // From the highest limit that all GPUs allow down in steps; clocks where no limit holds the GPU back and clocks may
  // be locked.
  Watts limit_step{25};
  std::optional<Watts> lowest_limit = {};
  std::optional<Watts> highest_limit = {};
  std::vector<Watts> limits = {};  // these between the two and no others, where there are any
  bool try_clocks = true;
  std::uint32_t wait_steps = 1;  // left alone at the very beginning
  // Profiling is repeated when steps take longer or shorter than the profile says by more than this part; 0 is never.
  double drift_tolerance = 0.15;
  std::optional<PowerProfile> known = {};        // a profile that is known already
  std::shared_ptr<SliceMeter> slice_meter = {};  // measures slices in place of the training's monitor
};

// When to stop before the program itself does.
struct StoppingOptions {
  std::optional<TrainingTarget> target = {};
  std::optional<std::uint64_t> max_epochs = {};
  // Stops before an epoch that is known to take the cost beyond this, and after one that did.
  std::optional<Joules> cost_limit = {};
};

// Files of a training; none where a path is empty.
struct TrainingFiles {
  // Profiles are kept here: read at the beginning, replaced whenever a batch size has been profiled. A file that does
  // not hold profiles, or cannot be written, is said once and left alone.
  std::filesystem::path profiles = {};
  std::filesystem::path result = {};  // written at the end
};

struct TrainingOptions {
  TrainingMode mode = TrainingMode::optimize;
  PowerGoal goal = LeastCost{};
  // What energy counts against time in the cost, which is eta x energy + (1 - eta) x (highest limit x GPUs) x time:
  // 0 counts time alone, 1 energy alone.
  double eta = 0.5;
  ProfilingOptions profiling = {};
  StoppingOptions stopping = {};
  TrainingFiles files = {};

  // Which GPUs this process trains on: those of the machine's list, all without. Or those of `monitor`, which is then
  // measured with.
  std::optional<std::vector<int>> gpus = {};
  std::shared_ptr<Monitor> monitor = {};
  // Waits until the GPUs have done what was given to them; called where a slice or an epoch begins and ends.
  std::function<void()> synchronize = {};

  // Sets the GPUs in this process's place, under a lease of it all the same. What was found comes back through it as
  // well, when the training or the process ends by itself. Who puts back after a process that is killed knows nothing
  // of it: the next process that is given one does.
  std::shared_ptr<LimitSetter> limit_setter = {};

  std::optional<std::uint64_t> batch_size = {};       // what a profile is kept for
  std::optional<std::uint64_t> steps_per_epoch = {};  // where it is known beforehand

  // Where several processes train together.
  std::shared_ptr<Collective> collective = {};
  Seconds collective_patience{300};

  // How long settings stay without any word of progress (an evaluation, a long step) before they are put back.
  Seconds lease_term{900};

  // Told of everything, from the thread that reports the training's events and from within its calls. It must not call
  // the Training. What it throws is said as a warning.
  std::function<void(const TrainingEvent&)> listener = {};
};

}  // namespace zeus
