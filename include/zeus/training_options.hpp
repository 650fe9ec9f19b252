// The options of a Training (zeus/train.hpp). Plain values, made by the user and copied by the Training.
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
#include <string_view>
#include <vector>

namespace zeus {

enum class TrainingMode {
  optimize,  // profile, then apply the setting that suits the goal best
  observe,   // profile, but set limits only inside profiling slices, and report what the optimum would have cost
  passive,   // set nothing at all; report what the optimum would have cost if a profile is known
};

struct TrainingTarget {
  double metric = 0;
  bool higher_is_better = true;
};

// Sets power limits for a process that may not set them itself, for example through a daemon.
class LimitSetter {
 public:
  LimitSetter() = default;
  LimitSetter(const LimitSetter&) = delete;
  LimitSetter& operator=(const LimitSetter&) = delete;
  virtual ~LimitSetter() = default;

  // Sets the GPU with this number; the limit is in force when it returns. An exception says why it is refused.
  virtual void set_power_limit(int gpu, Watts limit) = 0;
};

// Which power settings are tried, and how much is measured for each.
struct ProfilingOptions {
  PowerProfiling plan = {};
  // Limits are tried in steps of this size, down from the highest that all GPUs allow. Clocks are tried too, if no
  // limit holds the GPU back and clocks may be locked.
  Watts limit_step{25};
  std::optional<Watts> lowest_limit = {};
  std::optional<Watts> highest_limit = {};
  std::vector<Watts> limits = {};  // if not empty, only these limits between the two
  bool try_clocks = true;
  std::uint32_t wait_steps = 1;  // steps at the very beginning that are not measured
  // Profiling is repeated when the time of steps differs from the profile by more than this fraction; 0: never.
  double drift_tolerance = 0.15;
  std::optional<PowerProfile> known = {};        // a profile that is known already
  std::shared_ptr<SliceMeter> slice_meter = {};  // measures slices instead of the training's monitor
};

// When to stop before the program stops by itself.
struct StoppingOptions {
  std::optional<TrainingTarget> target = {};
  std::optional<std::uint64_t> max_epochs = {};
  // Stops before an epoch that is known to take the cost above this, and after one that did.
  std::optional<Joules> cost_limit = {};
};

// The files of a training; an empty path means none.
struct TrainingFiles {
  // Profiles are kept here: read at the beginning, replaced whenever a batch size has been profiled. If the file does
  // not contain profiles, or cannot be written, that is logged once and the file is left alone.
  std::filesystem::path profiles = {};
  std::filesystem::path result = {};  // written at the end
};

struct TrainingOptions {
  TrainingMode mode = TrainingMode::optimize;
  PowerGoal goal = LeastCost{};
  // The weight of energy against time in the cost, which is eta x energy + (1 - eta) x (highest limit x GPUs) x time: 0
  // counts only time, 1 only energy.
  double eta = 0.5;
  ProfilingOptions profiling = {};
  StoppingOptions stopping = {};
  TrainingFiles files = {};

  // The GPUs that this process trains on, by number in the machine's list; all by default. Or those of `monitor`, which
  // then measures.
  std::optional<std::vector<int>> gpus = {};
  std::shared_ptr<Monitor> monitor = {};
  // Waits until the GPUs have done their work; called when a slice or an epoch begins and ends.
  std::function<void()> synchronize = {};

  // Sets the GPUs instead of this process, but still under this process's lease. When the training or the process ends
  // normally, it also puts back what was found. If the process is killed, its guardian cannot use the setter; the next
  // process that is given one puts back then.
  std::shared_ptr<LimitSetter> limit_setter = {};

  std::optional<std::uint64_t> batch_size = {};       // a profile is kept for each
  std::optional<std::uint64_t> steps_per_epoch = {};  // if it is known beforehand

  // For several processes that train together.
  std::shared_ptr<Collective> collective = {};
  Seconds collective_patience{300};

  // How long settings stay without progress (an evaluation, a long step) before they are put back.
  Seconds lease_term{900};

  // Receives all events, on the thread that reports the training's progress and from within its calls. It must not call
  // the Training. What it throws is logged as a warning.
  std::function<void(const TrainingEvent&)> listener = {};
  // Receives the training's warnings, one line each, instead of the log. As the listener, but it may also be called
  // while the Training is destroyed; a line that it throws at goes to the log.
  std::function<void(std::string_view line)> warn = {};
};

}  // namespace zeus
