// The events of a recurring job: its history is the sequence of these and nothing else. A try is known by the number of
// its submission, a recurrence by its own number; the keeper of the history gives both out, in ascending order. Plain
// values; copy them freely between threads.
#pragma once

#include "records/limit_profile.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus::records {

// Why a try was made. A concurrent try runs because another is still running: policies learn from it, but it decides
// nothing.
enum class TryPurpose { explore, exploit, concurrent };

constexpr auto names_of(TryPurpose /*purpose*/) {
  return std::array<field::Name<TryPurpose>, 3>{
      {{TryPurpose::explore, "explore"}, {TryPurpose::exploit, "exploit"}, {TryPurpose::concurrent, "concurrent"}}};
}

enum class TryOutcome {
  reached,    // the target, after `epochs` epochs
  stopped,    // not within its budget: after `epochs` epochs it was still short of the target
  exhausted,  // not within the job's maximum epochs
  lost,       // it crashed, or its end was never seen: no evidence about the batch size
};

constexpr auto names_of(TryOutcome /*outcome*/) {
  return std::array<field::Name<TryOutcome>, 4>{{{TryOutcome::reached, "reached"},
                                                 {TryOutcome::stopped, "stopped"},
                                                 {TryOutcome::exhausted, "exhausted"},
                                                 {TryOutcome::lost, "lost"}}};
}

// What a decision asks for: to run one try, to measure limits first, or to give the recurrence up. Decided by
// optimize::RecurringJob, and embedded wherever it is recorded, sent or shown.
struct TryPlan {
  int batch_size = 0;  // 1 if the job has no batch sizes
  // The limit to run under. Nothing: measure all limits during the first epoch, record them, then use the cheapest.
  std::optional<Watts> limit = {};
  int max_epochs = 0;                 // stop it, as failed, if it misses the target after this many
  std::optional<Joules> budget = {};  // of cost (eta-weighted); stop it if another epoch would exceed this
  TryPurpose purpose = TryPurpose::exploit;
};

// Measure these limits of this batch size, record them, then ask again.
struct ProfileAsked {
  int batch_size = 0;
  std::vector<Watts> limits;
  std::string why = {};  // one sentence without a full stop; empty where people do not see it

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_size", self.batch_size, field::count_from_one);
    fields("limits", self.limits, field::power_above_zero);
  }
};

// The recurrence has failed as often as it may; the user has to look at the job.
struct FailedTries {
  int tries = 0;
  bool never_reached =
      false;  // no other try of the job has reached the target either; then each batch size is tried once

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("tries", self.tries, field::count);
    fields("never_reached", self.never_reached);
  }
};

struct TrySubmitted {
  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  TryPlan plan;
};

// Limits measured for one batch size, and the cost of measuring them beside any training. A cost that is not charged to
// a try is charged to `recurrence`.
struct LimitsProfiled {
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  std::vector<LimitProfile> limits;
  Joules energy;
  Seconds time;
};

// What an epoch took, from whole epochs: limits that were compared within one epoch are scaled to it.
struct EpochSeen {
  int batch_size = 0;
  Watts limit;
  Seconds epoch_time;
  Watts average_power;
};

// What a training took besides its epochs: about the same at every batch size.
struct StartSeen {
  Joules energy;
  Seconds time;
};

struct TryEnded {
  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  TryOutcome outcome = TryOutcome::lost;
  int epochs = 0;
  Joules energy;
  Seconds time;
};

// A recurrence that ends without a trained model: its owner gave it up, or was found dead.
struct RecurrenceAbandoned {
  std::uint64_t recurrence = 0;
};

// From here on the job runs on another GPU model: knowledge about epochs stays valid, knowledge about their cost does
// not. `max_power` is the most that all new devices together draw.
struct DeviceChanged {
  std::string model;
  Watts max_power;
  std::vector<Watts> power_limits = {};  // allowed there, ascending; empty: the same as before
};

using JobEvent =
    std::variant<TrySubmitted, LimitsProfiled, EpochSeen, StartSeen, TryEnded, RecurrenceAbandoned, DeviceChanged>;

constexpr bool reached(TryOutcome outcome) {
  return outcome == TryOutcome::reached;
}

}  // namespace zeus::records
