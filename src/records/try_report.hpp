// What the process that carries out a recurrence reports of its trainings: limits measured, progress, and how a try
// ended. Each is embedded in the store's entry that it makes (records/job_entry.hpp), and in the bodies of requests
// over a network, where tries are numbered from 1, as people see them. Plain values; any thread.
#pragma once

#include "records/energy.hpp"
#include "records/job_event.hpp"
#include "records/limit_profile.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::records {

// The energy of one GPU. If it is unknown (no counter, the GPU vanished), there is no entry at all.
struct GpuEnergy {
  std::string gpu;  // UUID
  Energy energy;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpu", self.gpu);
    fields("energy", self.energy);
  }
  friend bool operator==(const GpuEnergy&, const GpuEnergy&) = default;
};

// The epochs of a try that ran under one limit from beginning to end, without the first, which includes the start.
// Deviations are those of one epoch about the mean, and nothing if there is only one.
struct WholeEpochs {
  Watts limit;
  int count = 0;
  Seconds time;   // of all of them
  Joules energy;  // of all of them
  std::optional<Seconds> time_deviation;
  std::optional<Joules> energy_deviation;
  // What the try took beside its epochs, including its end if it got there. Known if the first epoch also ran under
  // this limit, or its first steps were seen.
  std::optional<Seconds> start_time;
  std::optional<Joules> start_energy;
  // The part of such an epoch outside its steps: evaluation and the like, which limits may slow down differently.
  std::optional<double> beside_steps = {};

  [[nodiscard]] Seconds mean_time() const { return time / count; }
  [[nodiscard]] Joules mean_energy() const { return energy / count; }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit, field::power_above_zero);
    fields("count", self.count, field::count_from_one);
    fields("time", self.time, field::duration_above_zero);
    fields("energy", self.energy, field::energy_above_zero);
    fields("time_deviation", self.time_deviation, field::duration);
    fields("energy_deviation", self.energy_deviation, field::energy);
    fields("start_time", self.start_time, field::duration);
    fields("start_energy", self.start_energy, field::energy);
    fields("beside_steps", self.beside_steps, field::Rule{.least = 0.0, .most = 1.0, .left_out = true});
  }
};

// Limits were measured. `charged` and `time` are what that took in addition to any training; zero if the training
// continues.
struct LimitsMeasured {
  int batch_size = 0;
  std::vector<LimitProfile> limits;
  std::vector<GpuEnergy> charged;
  Seconds time;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_size", self.batch_size, field::count_from_one);
    fields("limits", self.limits);
    fields("charged", self.charged);
    fields("time", self.time, field::duration);
  }
};

// What a try has done and taken since it began. Epochs, time and energy never fall.
struct TryProgress {
  int epochs = 0;
  std::optional<double> metric = {};
  std::vector<GpuEnergy> gpus = {};
  Seconds time = {};
};

// How a try ended. Without energies, `left_out` says why the job must not learn from it.
struct TryResult {
  TryOutcome outcome = TryOutcome::lost;
  TryProgress progress = {};
  std::optional<Watts> limit = {};    // the one that it ran under at the end
  std::optional<int> exit_code = {};  // of the command; 128 + n for signal n
  // Why policies must not learn from it ("another process held the GPU's limit"); nothing if they may. It ends its
  // recurrence like any other try, but the policy ignores it.
  std::optional<std::string> left_out = {};
  std::optional<WholeEpochs> whole_epochs = {};
};

// The state of the running try.
struct EpochsTrained {
  std::uint64_t try_number = 0;  // 0: the one that runs; otherwise another one is refused, as a conflict
  TryProgress progress;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number, field::from_one);
    fields("epochs", self.progress.epochs, field::count);
    fields("metric", self.progress.metric);
    fields("gpus", self.progress.gpus);
    fields("time", self.progress.time, field::duration);
  }
};

struct TryOver {
  std::uint64_t try_number = 0;  // as above
  TryResult result;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number, field::from_one);
    fields("outcome", self.result.outcome);
    fields("epochs", self.result.progress.epochs, field::count);
    fields("gpus", self.result.progress.gpus);
    fields("time", self.result.progress.time, field::duration);
    fields("limit", self.result.limit, field::power_above_zero);
    fields("metric", self.result.progress.metric);
    fields("exit_code", self.result.exit_code);
    fields("left_out", self.result.left_out);
    fields("whole_epochs", self.result.whole_epochs, field::Rule{.left_out = true});
  }
};

}  // namespace zeus::records
