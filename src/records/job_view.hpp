// All there is to show of one recurring job: what `zeus jobs NAME` prints and what reports draw. Made by jobs/view.hpp
// from the job's history. Plain values; copy them freely between threads.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

struct TryView {
  std::uint64_t number = 0;      // from 0, over all recurrences
  std::uint64_t recurrence = 0;  // from 0
  int batch_size = 0;
  TryPurpose purpose = TryPurpose::exploit;
  std::optional<TryOutcome> outcome;  // nothing while it runs
  std::optional<std::string> left_out;
  int epochs = 0;
  std::optional<double> metric;
  std::optional<Watts> limit;    // that it ran under
  std::optional<Energy> energy;  // of all GPUs; nothing while it runs and when it was lost unseen
  std::optional<Seconds> time;
  std::optional<Joules> cost;  // eta x energy + (1 - eta) x max_power x time
  std::optional<Joules> budget;
  std::optional<int> exit_code;
  std::string device;  // "1 x NVIDIA A100-SXM4-40GB"
  std::string host;
  WallTime started;
  std::optional<WallTime> ended;
};

enum class RecurrenceState { running, reached, given_up };

struct RecurrenceView {
  std::uint64_t number = 0;
  RecurrenceState state = RecurrenceState::running;
  JobOwner owner;
  std::string device;
  std::string reason;  // why it was given up
  int tries = 0;
  // What it took in all: failed tries and the profiling charged to it included.
  Joules energy;
  Joules uncertainty;
  Seconds time;
  Joules cost;
  // What the default (default batch size, highest limit, on the same devices) is expected to take; nothing while that
  // is not known, or the recurrence did not reach.
  std::optional<Joules> default_energy;
  std::optional<Seconds> default_time;
  std::optional<Joules> default_cost;
};

// What is believed of a batch size on the current devices.
struct ArmView {
  int batch_size = 0;
  bool is_default = false;
  int reached = 0;  // tries that ended so
  int stopped = 0;  // early, or at the maximum of epochs
  int running = 0;
  // The cost of one run under its cheapest limit, and the 95 % interval of that mean; nothing while nothing is
  // believed.
  std::optional<Joules> expected_cost;
  std::optional<Joules> low_cost;
  std::optional<Joules> high_cost;
  std::optional<double> expected_epochs;  // where the policy has an opinion about epochs
  std::vector<LimitProfile> limits;       // measured on the current devices, ascending
  std::optional<Watts> best_limit;        // the cheapest of these
};

enum class NextKind { run, profile, give_up };

// What a recurrence that began now would be told to do, and why.
struct NextView {
  NextKind kind = NextKind::run;
  int batch_size = 0;
  TryPurpose purpose = TryPurpose::exploit;
  std::optional<Watts> limit;
  std::vector<Watts> profiles;  // limits to be measured
  std::optional<int> max_epochs;
  std::optional<Joules> budget;
  std::string why;  // one sentence without a full stop
};

// Against running the default every time. Only recurrences that reached and whose default is known are counted.
struct SavingsView {
  std::uint64_t recurrences = 0;  // counted
  Joules energy;                  // saved; negative: lost
  Joules energy_of_default;       // what the same recurrences would have taken
  Seconds time;
  Seconds time_of_default;
  Joules cost;
  Joules cost_of_default;
};

struct JobView {
  std::string name;
  JobDefinition definition;
  JobDevice device;  // the current one
  WallTime created;
  std::uint64_t entries = 0;  // of its history
  std::vector<RecurrenceView> recurrences;
  std::vector<TryView> tries;
  std::vector<ArmView> arms;        // ascending by batch size
  std::optional<Joules> best_cost;  // the least of a recurrence so far
  NextView next;
  std::optional<SavingsView> savings;       // nothing while the default's cost is not known
  std::optional<SavingsView> savings_last;  // of the last five that count
  std::string savings_unknown;              // why there are none
};

std::string_view to_string(RecurrenceState state);

// The object that docs/cli.md promises for `zeus jobs NAME --json`, on one line.
std::string to_json(const JobView& job);

}  // namespace zeus::records
