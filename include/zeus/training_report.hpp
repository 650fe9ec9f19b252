// The events of a Training (zeus/train.hpp) while it trains, and its result at the end. Plain values; copy them freely
// between threads.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/fields.hpp>
#include <zeus/power.hpp>
#include <zeus/power_choice.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus {

enum class StopReason {
  target_reached,
  epochs_used_up,
  too_expensive,  // the cost is above its limit, or would be after another epoch
};

constexpr auto names_of(StopReason /*reason*/) {
  return std::array<field::Name<StopReason>, 3>{{{StopReason::target_reached, "target reached"},
                                                 {StopReason::epochs_used_up, "epochs used up"},
                                                 {StopReason::too_expensive, "too dear"}}};
}

// An epoch: its steps, and what follows them until the next epoch. Energy and cost are those of all GPUs of all ranks;
// unknown if a GPU's energy is, or there is no GPU.
struct EpochReport {
  std::uint64_t number = 1;  // from 1
  std::uint64_t steps = 0;
  Seconds time = {};
  Seconds steps_time = {};  // the part of it until the end of the steps
  std::optional<Energy> energy = {};
  std::optional<Joules> cost = {};
  std::optional<double> metric = {};  // the last one reported
  bool profiled = false;              // slices were measured in it

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("number", self.number);
    fields("steps", self.steps);
    fields("time", self.time);
    fields("steps_time", self.steps_time);
    fields("energy", self.energy);
    fields("cost", self.cost);
    fields("metric", self.metric);
    fields("profiled", self.profiled);
  }
};

struct TrainingResult {
  std::optional<StopReason> stopped_by = {};
  std::vector<EpochReport> epochs = {};
  Seconds time = {};
  std::optional<Energy> energy = {};
  std::optional<Joules> cost = {};
  double eta = 0.5;
  Watts max_power = {};  // the sum of all GPUs' highest limits, the price of time in the cost; 0 without GPUs
  std::uint32_t gpus = 0;
  std::optional<double> metric = {};  // the last one
  // The part of that spent on profiling.
  std::uint64_t profiling_steps = 0;
  Seconds profiling_time = {};
  std::optional<PowerSetting> optimum = {};
  bool applied = false;  // the optimum is (or was) in force
  PowerProfile profile = {};
  std::optional<TrainingPrediction> prediction = {};  // in the observing modes
  std::string no_prediction = {};                     // why there is none
  std::string unoptimized = {};                       // why the GPUs were left alone; usually empty

  [[nodiscard]] bool reached() const { return stopped_by == StopReason::target_reached; }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("stopped_by", self.stopped_by);
    fields("time", self.time);
    fields("energy", self.energy);
    fields("cost", self.cost);
    fields("eta", self.eta);
    fields("max_power", self.max_power);
    fields("gpus", self.gpus);
    fields("metric", self.metric);
    fields("optimum", self.optimum);
    fields("applied", self.applied);
    fields("profiling_steps", self.profiling_steps);
    fields("profiling_time", self.profiling_time);
    fields("unoptimized", self.unoptimized);
    fields("prediction", self.prediction);
    fields("no_prediction", self.no_prediction);
    fields("epochs", self.epochs);
    fields("profile", self.profile);
  }
};

// The events.
struct ProfilingBegun {
  static constexpr std::string_view kind = "ProfilingBegun";
  std::optional<std::uint64_t> batch_size = {};
  std::string again = {};  // why it is repeated; empty the first time

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_size", self.batch_size);
    fields("again", self.again);
  }
};
// A setting is in force on all GPUs.
struct SettingApplied {
  static constexpr std::string_view kind = "SettingApplied";
  PowerSetting setting = {};
  std::optional<Watts> enforced = {};  // the limit that the devices report as enforced; the lowest of them
  bool optimum = false;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting);
    fields("enforced", self.enforced);
    fields("optimum", self.optimum);
  }
};
// All GPUs have the settings that they had before.
struct SettingsRestored {
  static constexpr std::string_view kind = "SettingsRestored";

  template <typename Fields, typename Self>
  static void describe(Fields& /*fields*/, Self& /*self*/) {}
};
struct SettingRefused {
  static constexpr std::string_view kind = "SettingRefused";
  PowerSetting setting = {};
  std::string why = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting);
    fields("why", self.why);
  }
};
struct SliceMeasured {
  static constexpr std::string_view kind = "SliceMeasured";
  PowerSetting setting = {};
  std::uint64_t steps = 0;
  Seconds time = {};
  Energy energy = {};
  std::optional<double> capped = {};  // share of the time in which the limit held the clocks down

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting);
    fields("steps", self.steps);
    fields("time", self.time);
    fields("energy", self.energy);
    fields("capped", self.capped);
  }
};
struct SliceLost {
  static constexpr std::string_view kind = "SliceLost";
  PowerSetting setting = {};
  std::string why = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting);
    fields("why", self.why);
  }
};
// Which share of a step's energy a setting saves beside the highest limit; its 95 % interval counts that steps scatter.
struct StepSaving {
  double share = 0.0;
  double half_width = 0.0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("share", self.share);
    fields("half_width", self.half_width);
  }
};
struct ProfilingDone {
  static constexpr std::string_view kind = "ProfilingDone";
  std::optional<PowerSetting> optimum = {};
  std::uint64_t steps = 0;  // 0 if a saved profile decided
  PowerProfile profile = {};
  std::optional<StepSaving> saving = {};  // of the optimum; empty if it was not measured beside the highest limit

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("optimum", self.optimum);
    fields("steps", self.steps);
    fields("profile", self.profile);
    fields("saving", self.saving);
  }
};
// From now on the GPUs are left alone: another process has leased them, they may not be set, or a rank is gone.
struct Unoptimized {
  static constexpr std::string_view kind = "Unoptimized";
  std::string why = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("why", self.why);
  }
};
struct EpochEnded {
  static constexpr std::string_view kind = "EpochEnded";
  EpochReport epoch = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("epoch", self.epoch);
  }
};
struct TrainingStopped {
  static constexpr std::string_view kind = "TrainingStopped";
  StopReason reason = StopReason::target_reached;
  Joules cost = {};        // so far
  Joules next_epoch = {};  // the cost of another epoch, if that is the reason

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("reason", self.reason);
    fields("cost", self.cost);
    fields("next_epoch", self.next_epoch);
  }
};

using TrainingEvent = std::variant<ProfilingBegun, SettingApplied, SettingsRestored, SettingRefused, SliceMeasured,
                                   SliceLost, ProfilingDone, Unoptimized, EpochEnded, TrainingStopped>;

}  // namespace zeus
