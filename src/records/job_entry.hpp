// The store's entries about a job. Each has an event (records/job_event.hpp) and what people and reports want to know
// about it: the owner, the place, how certain an energy is. The store numbers entries from 1, without a gap. Plain
// values; copy them freely between threads.
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

// The process that runs a recurrence. Its process ID is valid in `place`: one boot of one machine, and one PID
// namespace there.
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

// A recurrence has begun: a trained model is wanted.
struct RecurrenceBegun {
  static constexpr std::string_view kind = "begun";

  std::uint64_t recurrence = 0;
  JobOwner owner;
  JobDevice device;
  std::string user = {};              // its user, if a server knows its users; otherwise empty
  std::optional<Seconds> lease = {};  // how long the owner may be silent before it counts as dead, if that was given

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("owner", self.owner);
    fields("device", self.device);
    fields("user", self.user, field::Rule{.left_out = true});
    fields("lease", self.lease, field::may_lack(field::duration_above_zero));
  }
};

// A try was decided on and is about to start.
struct TryStarted {
  static constexpr std::string_view kind = "started";

  TrySubmitted event;
  std::optional<Watts> limit;  // the limit to run under; nothing: profile all limits while running
  int max_epochs = 0;
  std::optional<Joules> budget;  // of cost (eta-weighted); the try is stopped before it exceeds this
  std::uint64_t seed = 0;        // passed to the script
  std::string why = {};          // one sentence without a full stop, as the caller was told

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.event.try_number);
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.batch_size, field::count);
    fields("purpose", self.event.purpose);
    fields("limit", self.limit, field::power_above_zero);
    fields("max_epochs", self.max_epochs, field::count);
    fields("budget", self.budget);
    fields("seed", self.seed);
    fields("why", self.why, field::Rule{.left_out = true});
  }
};

// Limits were measured. `gpus` is the energy of that beside any training, and `event.energy` its sum.
struct ProfileTaken {
  static constexpr std::string_view kind = "profiled";

  LimitsProfiled event;
  std::vector<GpuEnergy> gpus;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.batch_size, field::count);
    fields("limits", self.event.limits);
    fields("energy", self.event.energy, field::energy);
    fields("time", self.event.time, field::duration);
    fields("gpus", self.gpus);
  }
};

// Progress of a running try; policies learn nothing from it yet.
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
    fields("epochs", self.epochs, field::count);
    fields("metric", self.metric);
    fields("time", self.time, field::duration);
    fields("gpus", self.gpus);
  }
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

// A try is over. `event.energy` is the sum over `gpus`.
struct TryFinished {
  static constexpr std::string_view kind = "finished";

  TryEnded event;
  std::vector<GpuEnergy> gpus;
  std::optional<Watts> limit;  // the one that it ran under at the end
  std::optional<double> metric;
  std::optional<int> exit_code;  // of the command; 128 + n for signal n
  // Why policies must not learn from it ("another process held the GPU's limit"); nothing if they may. It ends its
  // recurrence like any other try, but the policy ignores it.
  std::optional<std::string> left_out;
  std::optional<WholeEpochs> whole_epochs;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.event.try_number);
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.batch_size, field::count);
    fields("outcome", self.event.outcome);
    fields("epochs", self.event.epochs, field::count);
    fields("energy", self.event.energy, field::energy);
    fields("time", self.event.time, field::duration);
    fields("limit", self.limit, field::power_above_zero);
    fields("metric", self.metric);
    fields("exit_code", self.exit_code);
    fields("left_out", self.left_out);
    fields("whole_epochs", self.whole_epochs, field::Rule{.left_out = true});
    fields("gpus", self.gpus);
  }
};

// A training reported its epochs after its try was recorded as lost: it had been silent for too long, or its client had
// reported its end. The answer follows from the training's own figures, so that it ends well. Policies learn nothing
// from it, and no sum includes it.
struct LateReport {
  static constexpr std::string_view kind = "late";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  int epochs = 0;                     // so far
  std::optional<TryOutcome> outcome;  // the answer to the training; nothing: go on
  std::optional<double> metric;
  std::vector<GpuEnergy> gpus;  // so far
  Seconds time;                 // so far

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("epochs", self.epochs, field::count);
    fields("outcome", self.outcome);
    fields("metric", self.metric);
    fields("time", self.time, field::duration);
    fields("gpus", self.gpus);
  }
};

// The job continues on other devices.
struct DeviceMoved {
  static constexpr std::string_view kind = "moved";

  JobDevice device;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("device", self.device);
  }
};

// Tries that ended a recurrence because it may not have more.
struct FailedTries {
  int tries = 0;
  bool never_reached = false;  // no other try of the job has reached the target either

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("tries", self.tries, field::count);
    fields("never_reached", self.never_reached);
  }
  friend bool operator==(const FailedTries&, const FailedTries&) = default;
};

// A recurrence ended without a model.
struct RecurrenceGivenUp {
  static constexpr std::string_view kind = "given_up";

  std::uint64_t recurrence = 0;
  std::string reason;                      // "process 4711 (zeus) is gone"
  std::optional<FailedTries> failed = {};  // if that is the reason

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("reason", self.reason);
    fields("failed", self.failed, field::Rule{.left_out = true});
  }
};

// A recurrence whose figures are wrong was left out, for good. It stays on record, but nothing is learned from it, and
// no sum includes it: the other entries count as if its tries had been lost.
struct RecurrenceLeftOut {
  static constexpr std::string_view kind = "left_out";

  std::uint64_t recurrence = 0;
  std::string reason;  // for people

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("reason", self.reason);
  }
};

// From here on the job has this definition. jobs/redefinition.hpp decides what of its history stays valid.
struct JobRedefined {
  static constexpr std::string_view kind = "redefined";

  JobDefinition definition;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("definition", self.definition);
  }
};

using JobEntryBody = std::variant<RecurrenceBegun, TryStarted, ProfileTaken, EpochsRun, TryFinished, RecurrenceGivenUp,
                                  DeviceMoved, JobRedefined, LateReport, RecurrenceLeftOut>;

// A request, kept so that repeating it changes nothing more. Compared byte by byte; an empty key means none.
struct EntryRequest {
  std::string key;    // the requester, and the request's name
  std::string asked;  // the content: the same key with another one is an error

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("request", self.key, field::Rule{.left_out = true});
    fields("asked", self.asked, field::Rule{.left_out = true});
  }
  friend bool operator==(const EntryRequest&, const EntryRequest&) = default;
};

struct JobEntry {
  std::uint64_t sequence = 0;  // given by the store
  WallTime written;            // for people; never used in a computation
  JobEntryBody body;
  EntryRequest request = {};  // the request that made it, if this is the first entry of that request

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("body", self.body, field::beside);
    fields("sequence", self.sequence);
    fields("written_us", self.written.microseconds_since_epoch, field::point_in_time);
    fields("request", self.request, field::beside);
  }
};

std::string_view to_string(TryPurpose purpose);
std::string_view to_string(TryOutcome outcome);

// One line of JSON with "kind" first, and back. Anything else is a corrupt_data Error.
std::string to_json(const JobEntryBody& body);
JobEntryBody job_entry_body_from_json(std::string_view text);
// The same with "sequence" and "written_us" at its end.
std::string to_json(const JobEntry& entry);
JobEntry job_entry_from_json(std::string_view text);

}  // namespace zeus::records
