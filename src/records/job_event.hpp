// What happens to a recurring job, one event at a time: its history is the sequence of these and nothing else.
// A try is known by the number of its submission, a recurrence by its own number; both are given by whoever keeps the
// history, in ascending order. Plain values; copy them freely between threads.
#pragma once

#include "records/limit_profile.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace zeus::records {

// Why a try was made; a try that is only there because another is still running teaches, but decides nothing.
enum class TryPurpose { explore, exploit, concurrent };

constexpr auto names_of(TryPurpose /*purpose*/) {
  return std::array<field::Name<TryPurpose>, 3>{
      {{TryPurpose::explore, "explore"}, {TryPurpose::exploit, "exploit"}, {TryPurpose::concurrent, "concurrent"}}};
}

enum class TryOutcome {
  reached,    // the target, after `epochs` epochs
  stopped,    // not within the budget it was given: it ran `epochs` epochs and was still short of the target
  exhausted,  // not within the job's maximum of epochs
  lost,       // it crashed or its end was never seen: says nothing about the batch size
};

constexpr auto names_of(TryOutcome /*outcome*/) {
  return std::array<field::Name<TryOutcome>, 4>{{{TryOutcome::reached, "reached"},
                                                 {TryOutcome::stopped, "stopped"},
                                                 {TryOutcome::exhausted, "exhausted"},
                                                 {TryOutcome::lost, "lost"}}};
}

struct TrySubmitted {
  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  TryPurpose purpose = TryPurpose::exploit;
};

// Limits measured for one batch size, and what measuring them cost beside any training. What is not charged to a try is
// charged to `recurrence`.
struct LimitsProfiled {
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  std::vector<LimitProfile> limits;
  Joules energy;
  Seconds time;
};

// What an epoch has taken, as whole epochs had it: the limits that were compared in parts of one follow it.
struct EpochSeen {
  int batch_size = 0;
  Watts limit;
  Seconds epoch_time;
  Watts average_power;
};

// What a training has taken beside its epochs: much the same at every batch size.
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

// From here on the job runs on another model of GPU: what is known of epochs holds, what is known of their cost does
// not. `max_power` is what the new devices draw at most, all of them together.
struct DeviceChanged {
  std::string model;
  Watts max_power;
  std::vector<Watts> power_limits = {};  // that may be set there, ascending; empty: the same as before
};

using JobEvent =
    std::variant<TrySubmitted, LimitsProfiled, EpochSeen, StartSeen, TryEnded, RecurrenceAbandoned, DeviceChanged>;

constexpr bool reached(TryOutcome outcome) {
  return outcome == TryOutcome::reached;
}

}  // namespace zeus::records
