// Reports on the trainings of a recurrence, by the process that carries it out. Over a network they are the bodies of
// requests. Tries are numbered from 1, as people see them. Plain values; any thread.
#pragma once

#include "records/job_entry.hpp"
#include "records/limit_profile.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::records {

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

// The state of the running try. Epochs, time and energy never fall.
struct EpochsTrained {
  std::uint64_t try_number = 0;  // 0: the one that runs; otherwise another one is refused, as a conflict
  int epochs = 0;
  std::optional<double> metric;
  std::vector<GpuEnergy> gpus;  // since it began
  Seconds time;                 // since it began

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number, field::from_one);
    fields("epochs", self.epochs, field::count);
    fields("metric", self.metric);
    fields("gpus", self.gpus);
    fields("time", self.time, field::duration);
  }
};

// How the try ended. Without energies, `left_out` says why the job must not learn from it.
struct TryOver {
  std::uint64_t try_number = 0;  // as above
  TryOutcome outcome = TryOutcome::lost;
  int epochs = 0;
  std::vector<GpuEnergy> gpus;
  Seconds time;
  std::optional<Watts> limit;
  std::optional<double> metric;
  std::optional<int> exit_code;
  std::optional<std::string> left_out;
  std::optional<WholeEpochs> whole_epochs;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number, field::from_one);
    fields("outcome", self.outcome);
    fields("epochs", self.epochs, field::count);
    fields("gpus", self.gpus);
    fields("time", self.time, field::duration);
    fields("limit", self.limit, field::power_above_zero);
    fields("metric", self.metric);
    fields("exit_code", self.exit_code);
    fields("left_out", self.left_out);
    fields("whole_epochs", self.whole_epochs, field::Rule{.left_out = true});
  }
};

}  // namespace zeus::records
