// What a Training (zeus/train.hpp) tells: what happens while it trains, and what it came to in the end.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/power.hpp>
#include <zeus/power_choice.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus {

enum class StopReason {
  target_reached,
  epochs_used_up,
  too_dear,  // the cost is beyond its limit, or would be after another epoch
};

// Steps and what follows them until the next epoch. Energy and cost are those of all GPUs of all ranks; unknown where a
// GPU's energy is, or there is none.
struct EpochReport {
  std::uint64_t number = 1;  // from 1 on
  std::uint64_t steps = 0;
  Seconds time;
  Seconds steps_time;  // of it, until the end of the steps
  std::optional<Energy> energy;
  std::optional<Joules> cost;
  std::optional<double> metric;  // the last one reported
  bool profiled = false;         // slices were measured in it
};

struct TrainingResult {
  std::optional<StopReason> stopped_by;
  std::vector<EpochReport> epochs;
  Seconds time;
  std::optional<Energy> energy;
  std::optional<Joules> cost;
  double eta = 0.5;
  Watts max_power;  // the highest limit of all GPUs together, which the cost counts time with; 0 without GPUs
  std::uint32_t gpus = 0;
  std::optional<double> metric;  // the last one
  // What profiling took of that.
  std::uint64_t profiling_steps = 0;
  Seconds profiling_time;
  std::optional<PowerSetting> optimum;
  bool applied = false;  // the optimum is (or was) in force
  PowerProfile profile;
  std::optional<TrainingPrediction> prediction;  // in the observing modes
  std::string no_prediction;                     // why there is none
  std::string unoptimized;                       // why the GPUs were left alone; empty mostly

  [[nodiscard]] bool reached() const { return stopped_by == StopReason::target_reached; }
};

// What happens.
struct ProfilingBegun {
  std::optional<std::uint64_t> batch_size;
  std::string again;  // why it is repeated; empty at first
};
// A setting is in force on all GPUs.
struct SettingApplied {
  PowerSetting setting;
  std::optional<Watts> enforced;  // what the devices say holds; the lowest of them
  bool optimum = false;
};
// All GPUs are as they were found.
struct SettingsRestored {};
struct SettingRefused {
  PowerSetting setting;
  std::string why;
};
struct SliceMeasured {
  PowerSetting setting;
  std::uint64_t steps = 0;
  Seconds time;
  Energy energy;
  std::optional<double> capped;  // share of the time in which the limit held the clocks down
};
struct SliceLost {
  PowerSetting setting;
  std::string why;
};
struct ProfilingDone {
  std::optional<PowerSetting> optimum;
  std::uint64_t steps = 0;  // 0 where a saved profile decided
  PowerProfile profile;
};
// From here on the GPUs are left alone: they are leased by another process, may not be set, or a rank is gone.
struct Unoptimized {
  std::string why;
};
struct EpochEnded {
  EpochReport epoch;
};
struct TrainingStopped {
  StopReason reason = StopReason::target_reached;
  Joules cost;        // so far
  Joules next_epoch;  // what another would have cost, where that is why
};

using TrainingEvent = std::variant<ProfilingBegun, SettingApplied, SettingsRestored, SettingRefused, SliceMeasured,
                                   SliceLost, ProfilingDone, Unoptimized, EpochEnded, TrainingStopped>;

}  // namespace zeus
