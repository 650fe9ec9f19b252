// The store's entries about a job. Each has an event (records/job_event.hpp) and what people and reports want to know
// about it: the owner, the place, how certain an energy is. The store numbers entries from 1, without a gap. Plain
// values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"
#include "base/holder.hpp"
#include "records/job_definition.hpp"
#include "records/job_event.hpp"
#include "records/try_report.hpp"

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
  std::uint64_t seed = 0;  // passed to the script
  std::string why = {};    // one sentence without a full stop, as the caller was told

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.event.try_number);
    fields("recurrence", self.event.recurrence);
    fields("batch_size", self.event.plan.batch_size, field::count);
    fields("purpose", self.event.plan.purpose);
    fields("limit", self.event.plan.limit, field::power_above_zero);
    fields("max_epochs", self.event.plan.max_epochs, field::count);
    fields("budget", self.event.plan.budget);
    fields("seed", self.seed);
    fields("why", self.why, field::Rule{.left_out = true});
  }
};

// Limits were measured, as their owner reported. What that took beside any training is charged to the recurrence.
struct ProfileTaken {
  static constexpr std::string_view kind = "profiled";

  std::uint64_t recurrence = 0;
  LimitsMeasured measured;
  Joules energy;  // the sum over `measured.charged`

  [[nodiscard]] LimitsProfiled event() const {
    return {.recurrence = recurrence,
            .batch_size = measured.batch_size,
            .limits = measured.limits,
            .energy = energy,
            .time = measured.time};
  }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("batch_size", self.measured.batch_size, field::count);
    fields("limits", self.measured.limits);
    fields("energy", self.energy, field::energy);
    fields("time", self.measured.time, field::duration);
    fields("gpus", self.measured.charged);
  }
};

// Progress of a running try; policies learn nothing from it yet.
struct EpochsRun {
  static constexpr std::string_view kind = "epochs";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  TryProgress progress;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("epochs", self.progress.epochs, field::count);
    fields("metric", self.progress.metric);
    fields("time", self.progress.time, field::duration);
    fields("gpus", self.progress.gpus);
  }
};

// A try is over.
struct TryFinished {
  static constexpr std::string_view kind = "finished";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  Joules energy;  // the sum over its GPUs
  TryResult result;

  [[nodiscard]] TryEnded event() const {
    return {.try_number = try_number,
            .recurrence = recurrence,
            .batch_size = batch_size,
            .outcome = result.outcome,
            .epochs = result.progress.epochs,
            .energy = energy,
            .time = result.progress.time};
  }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("batch_size", self.batch_size, field::count);
    fields("outcome", self.result.outcome);
    fields("epochs", self.result.progress.epochs, field::count);
    fields("energy", self.energy, field::energy);
    fields("time", self.result.progress.time, field::duration);
    fields("limit", self.result.limit, field::power_above_zero);
    fields("metric", self.result.progress.metric);
    fields("exit_code", self.result.exit_code);
    fields("left_out", self.result.left_out);
    fields("whole_epochs", self.result.whole_epochs, field::Rule{.left_out = true});
    fields("gpus", self.result.progress.gpus);
  }
};

// A training reported its epochs after its try was recorded as lost: it had been silent for too long, or its client had
// reported its end. The answer follows from the training's own figures, so that it ends well. Policies learn nothing
// from it, and no sum includes it.
struct LateReport {
  static constexpr std::string_view kind = "late";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  std::optional<TryOutcome> outcome;  // the answer to the training; nothing: go on
  TryProgress progress;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("epochs", self.progress.epochs, field::count);
    fields("outcome", self.outcome);
    fields("metric", self.progress.metric);
    fields("time", self.progress.time, field::duration);
    fields("gpus", self.progress.gpus);
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
