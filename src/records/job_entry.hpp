// What the store keeps of a job, one entry at a time: what happened (records/job_event.hpp), and beside it what people
// and reports want to know of it: who, where, how sure an energy is. Entries are numbered from 1 by the store, without
// a gap. Plain values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"
#include "base/holder.hpp"
#include "records/energy.hpp"
#include "records/job_definition.hpp"
#include "records/job_event.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::records {

// Who runs a recurrence. `place` tells where its process number means anything: one boot of one machine, and there one
// namespace of processes.
struct JobOwner {
  std::string host;
  std::string place;
  Holder process;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("host", self.host);
    fields("place", self.place);
    fields("process", self.process, field::beside);
  }
  friend bool operator==(const JobOwner&, const JobOwner&) = default;
};

// What one GPU took. Unknown (no counter, vanished) is no entry at all.
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

// A recurrence has begun: somebody needs a trained model.
struct RecurrenceBegun {
  static constexpr std::string_view kind = "begun";

  std::uint64_t recurrence = 0;
  JobOwner owner;
  JobDevice device;
  std::string user = {};              // whose it is, where a server knows its users; empty where nobody asks
  std::optional<Seconds> lease = {};  // for how long its owner's silence still means life, where that was said

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("owner", self.owner);
    fields("device", self.device);
    fields("user", self.user, field::Rule{.left_out = true});
    fields("lease", self.lease, field::Rule{.least = 0.0, .above_least = true, .left_out = true});
  }
};

// A try was decided upon and is about to start.
struct TryStarted {
  static constexpr std::string_view kind = "started";

  TrySubmitted event;
  std::optional<Watts> limit;  // to run under; nothing: profile all limits while running
  int max_epochs = 0;
  std::optional<Joules> budget;  // of cost (eta-weighted); the try is stopped before it would exceed it
  std::uint64_t seed = 0;        // for the script
  std::string why = {};          // one sentence without a full stop, as it was said to who asked

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.event.try_number);
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.batch_size, field::from_zero);
    fields("purpose", self.event.purpose);
    fields("limit", self.limit);
    fields("max_epochs", self.max_epochs, field::from_zero);
    fields("budget", self.budget);
    fields("seed", self.seed);
    fields("why", self.why, field::Rule{.left_out = true});
  }
};

// Limits were measured. `gpus` is what that took beside any training, `event.energy` its sum.
struct ProfileTaken {
  static constexpr std::string_view kind = "profiled";

  LimitsProfiled event;
  std::vector<GpuEnergy> gpus;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.batch_size, field::from_zero);
    fields("limits", self.event.limits);
    fields("energy", self.event.energy, field::from_zero);
    fields("time", self.event.time, field::from_zero);
    fields("gpus", self.gpus);
  }
};

// Progress of a running try; teaches nothing yet.
struct EpochsRun {
  static constexpr std::string_view kind = "epochs";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  int epochs = 0;  // so far
  std::optional<double> metric;
  std::vector<GpuEnergy> gpus;  // so far
  Seconds time;                 // so far

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("epochs", self.epochs, field::from_zero);
    fields("metric", self.metric);
    fields("time", self.time, field::from_zero);
    fields("gpus", self.gpus);
  }
};

// What the epochs of a try took that ran from their beginning to their end under one limit, the first left out, which
// has the start in it. Deviations are those of one epoch about the mean, nothing of a single one.
struct WholeEpochs {
  Watts limit;
  int count = 0;
  Seconds time;   // of all of them
  Joules energy;  // of all of them
  std::optional<Seconds> time_deviation;
  std::optional<Joules> energy_deviation;
  // What the try took beside its epochs, its end included where it came to that, where the first ran under this limit
  // too or its first steps were seen.
  std::optional<Seconds> start_time;
  std::optional<Joules> start_energy;
  // The part of such an epoch that was no step: evaluation and the like, which limits may slow down otherwise.
  std::optional<double> beside_steps = {};

  [[nodiscard]] Seconds mean_time() const { return time / count; }
  [[nodiscard]] Joules mean_energy() const { return energy / count; }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit, field::above_zero);
    fields("count", self.count, field::from_one);
    fields("time", self.time, field::above_zero);
    fields("energy", self.energy, field::above_zero);
    fields("time_deviation", self.time_deviation, field::from_zero);
    fields("energy_deviation", self.energy_deviation, field::from_zero);
    fields("start_time", self.start_time, field::from_zero);
    fields("start_energy", self.start_energy, field::from_zero);
    fields("beside_steps", self.beside_steps, field::Rule{.least = 0.0, .most = 1.0, .left_out = true});
  }
};

// A try is over. `event.energy` is the sum over `gpus`.
struct TryFinished {
  static constexpr std::string_view kind = "finished";

  TryEnded event;
  std::vector<GpuEnergy> gpus;
  std::optional<Watts> limit;  // that it ran under, in the end
  std::optional<double> metric;
  std::optional<int> exit_code;  // of the command; 128 + n for signal n
  // Why it must not teach anything ("another process held the GPU's limit"); nothing when it may. It ends its
  // recurrence like any other try, but is lost to the policy.
  std::optional<std::string> left_out;
  std::optional<WholeEpochs> whole_epochs;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.event.try_number);
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.batch_size, field::from_zero);
    fields("outcome", self.event.outcome);
    fields("epochs", self.event.epochs, field::from_zero);
    fields("energy", self.event.energy, field::from_zero);
    fields("time", self.event.time, field::from_zero);
    fields("limit", self.limit);
    fields("metric", self.metric);
    fields("exit_code", self.exit_code);
    fields("left_out", self.left_out);
    fields("whole_epochs", self.whole_epochs, field::Rule{.left_out = true});
    fields("gpus", self.gpus);
  }
};

// The job goes on on other devices.
struct DeviceMoved {
  static constexpr std::string_view kind = "moved";

  JobDevice device;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("device", self.device);
  }
};

// Tries that ended a recurrence, since it may not have more.
struct FailedTries {
  int tries = 0;
  bool never_reached = false;  // nor has any other of the job

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("tries", self.tries, field::from_zero);
    fields("never_reached", self.never_reached);
  }
  friend bool operator==(const FailedTries&, const FailedTries&) = default;
};

// A recurrence ended without a model.
struct RecurrenceGivenUp {
  static constexpr std::string_view kind = "given_up";

  std::uint64_t recurrence = 0;
  std::string reason;                      // "process 4711 (zeus) is gone"
  std::optional<FailedTries> failed = {};  // where that is why

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("reason", self.reason);
    fields("failed", self.failed, field::Rule{.left_out = true});
  }
};

// From here on the job is defined so. What of its history stays true is told by jobs/redefinition.hpp.
struct JobRedefined {
  static constexpr std::string_view kind = "redefined";

  JobDefinition definition;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("definition", self.definition);
  }
};

using JobEntryBody = std::variant<RecurrenceBegun, TryStarted, ProfileTaken, EpochsRun, TryFinished, RecurrenceGivenUp,
                                  DeviceMoved, JobRedefined>;

// What somebody asked for, so that asking again changes nothing more. Compared byte by byte; an empty key is none.
struct EntryRequest {
  std::string key;    // whose request it is, and its name
  std::string asked;  // what for: a key that comes back with another is a mistake

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("request", self.key, field::Rule{.left_out = true});
    fields("asked", self.asked, field::Rule{.left_out = true});
  }
  friend bool operator==(const EntryRequest&, const EntryRequest&) = default;
};

struct JobEntry {
  std::uint64_t sequence = 0;  // given by the store
  WallTime written;            // for people; nothing is computed from it
  JobEntryBody body;
  EntryRequest request = {};  // that made it, where it is the first that this one made

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("body", self.body, field::beside);
    fields("sequence", self.sequence);
    fields("written_us", self.written.microseconds_since_epoch);
    fields("request", self.request, field::beside);
  }
};

std::string_view to_string(TryPurpose purpose);
std::string_view to_string(TryOutcome outcome);

// One line of JSON with "kind" first, and back. What is not such an entry is a corrupt_data Error.
std::string to_json(const JobEntryBody& body);
JobEntryBody job_entry_body_from_json(std::string_view text);
// The same with "sequence" and "written_us" at its end.
std::string to_json(const JobEntry& entry);
JobEntry job_entry_from_json(std::string_view text);

}  // namespace zeus::records
