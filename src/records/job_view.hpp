// Everything there is to show about one recurring job: what `zeus jobs NAME` prints and what reports draw. Made by
// jobs/job_view.hpp from the job's history. Plain values; copy them freely between threads.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/limit_profile.hpp"
#include "records/wall_time_json.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

struct TryView {
  std::uint64_t number = 0;      // from 1, over all recurrences
  std::uint64_t recurrence = 0;  // from 1
  int batch_size = 0;
  TryPurpose purpose = TryPurpose::exploit;
  std::optional<TryOutcome> outcome;  // nothing while it runs
  std::optional<std::string> left_out;
  int epochs = 0;
  std::optional<double> metric;
  std::optional<Watts> limit;    // the one that it ran under at the end
  std::optional<Energy> energy;  // of all GPUs; nothing while it runs or if its end was not seen
  std::optional<Seconds> time;
  std::optional<Joules> cost;  // eta x energy + (1 - eta) x max_power x time
  std::optional<Joules> budget;
  std::optional<int> exit_code;
  std::string device;  // "1 x NVIDIA A100-SXM4-40GB"
  std::string host;
  WallTime started;
  std::optional<WallTime> ended;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    const field::Rule unseen = field::because(self.outcome ? "its end was not seen" : "it is running");
    fields("try", self.number);
    fields("recurrence", self.recurrence);
    fields("batch_size", self.batch_size);
    fields("limit", self.limit, field::because("it profiles all limits, or its end was not seen"));
    fields("purpose", self.purpose);
    fields("outcome", self.outcome, unseen);
    fields("left_out", self.left_out, field::because("it counts"));
    fields("epochs", self.epochs);
    fields("metric", self.metric, field::because("none was reported"));
    fields("energy", self.energy, unseen);
    fields("time", self.time, unseen);
    fields("cost", self.cost, unseen);
    fields("budget", self.budget, field::because("there was no bound"));
    fields("exit_code", self.exit_code, unseen);
    fields("device", self.device);
    fields("host", self.host);
    fields("started", self.started);
    fields("ended", self.ended, unseen);
  }
};

enum class RecurrenceState { running, reached, given_up };

constexpr auto names_of(RecurrenceState /*state*/) {
  return std::array<field::Name<RecurrenceState>, 3>{{{RecurrenceState::running, "running"},
                                                      {RecurrenceState::reached, "reached"},
                                                      {RecurrenceState::given_up, "given_up"}}};
}

struct RecurrenceView {
  std::uint64_t number = 0;  // from 1
  RecurrenceState state = RecurrenceState::running;
  JobOwner owner;
  std::string device;
  std::string reason;  // why it was given up
  int tries = 0;
  // The total, including failed tries and the profiling charged to it. Unknown if any part of it is unknown.
  std::optional<Joules> energy = Joules{};
  std::optional<Joules> uncertainty = Joules{};
  Seconds time;
  std::optional<Joules> cost = Joules{};
  std::string energy_unknown;  // why it is unknown; empty if it is known
  // What a whole run of the default (default batch size, highest limit, same devices) is expected to take, including
  // its start: starts and epochs as known when this recurrence ended, and the mean number of epochs of its runs. Each
  // with the half-width of its 95 % interval. Nothing if unknown, or if the recurrence did not reach.
  std::optional<Joules> default_energy;
  std::optional<Joules> default_energy_uncertainty;
  std::optional<Seconds> default_time;
  std::optional<Seconds> default_time_uncertainty;
  std::optional<Joules> default_cost;
  std::optional<Joules> default_cost_uncertainty;
  std::string default_unknown = "the recurrence did not reach";  // why there is none; empty if there is one

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    const field::Rule no_default = field::because(self.default_unknown);
    fields("recurrence", self.number);
    fields("state", self.state);
    fields("why", self.reason);
    fields("tries", self.tries);
    const field::Rule unknown = field::because(self.energy_unknown);
    fields("energy", self.energy, unknown);
    fields("uncertainty", self.uncertainty, unknown);
    fields("time", self.time);
    fields("cost", self.cost, unknown);
    fields("default_energy", self.default_energy, no_default);
    fields("default_energy_uncertainty", self.default_energy_uncertainty, no_default);
    fields("default_time", self.default_time, no_default);
    fields("default_time_uncertainty", self.default_time_uncertainty, no_default);
    fields("default_cost", self.default_cost, no_default);
    fields("default_cost_uncertainty", self.default_cost_uncertainty, no_default);
    fields("device", self.device);
    fields("host", self.owner.host);
    fields("pid", self.owner.process.pid);
  }
};

// The beliefs about a batch size on the current devices.
struct ArmView {
  int batch_size = 0;
  bool is_default = false;
  int reached = 0;  // tries that reached the target
  int stopped = 0;  // stopped early, or at the maximum epochs
  int running = 0;
  // The cost of one run under its cheapest limit, and the 95 % interval of that mean; nothing as long as there is no
  // belief.
  std::optional<Joules> expected_cost;
  std::optional<Joules> low_cost;
  std::optional<Joules> high_cost;
  std::optional<double> expected_epochs;  // if the policy has a belief about epochs
  std::vector<LimitProfile> limits;       // measured on the current devices, ascending
  std::optional<Watts> best_limit;        // the cheapest of them

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    constexpr field::Rule nothing_believed = field::because("nothing is known that would tell");
    fields("batch_size", self.batch_size);
    fields("default", self.is_default);
    fields("reached", self.reached);
    fields("stopped", self.stopped);
    fields("running", self.running);
    fields("expected_cost", self.expected_cost, nothing_believed);
    fields("low_cost", self.low_cost, nothing_believed);
    fields("high_cost", self.high_cost, nothing_believed);
    fields("expected_epochs", self.expected_epochs,
           field::because("the policy has no opinion about epochs, or nothing is known"));
    fields("best_limit", self.best_limit,
           field::because("no power limit has been measured at this batch size on these devices"));
    fields("limits", self.limits);
  }
};

enum class NextKind { run, profile, give_up };

constexpr auto names_of(NextKind /*kind*/) {
  return std::array<field::Name<NextKind>, 3>{
      {{NextKind::run, "run"}, {NextKind::profile, "profile"}, {NextKind::give_up, "give_up"}}};
}

// What a recurrence that began now would do, and why.
struct NextView {
  NextKind kind = NextKind::run;
  int batch_size = 0;
  TryPurpose purpose = TryPurpose::exploit;
  std::optional<Watts> limit;
  std::vector<Watts> profiles;  // limits to measure
  std::optional<int> max_epochs;
  std::optional<Joules> budget;
  std::string why;  // one sentence without a full stop

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("do", self.kind);
    fields("batch_size", self.batch_size);
    fields("purpose", self.purpose);
    fields("limit", self.limit, field::because("limits are to be measured"));
    fields("profile", self.profiles);
    fields("max_epochs", self.max_epochs, field::because("nothing is run yet"));
    fields("budget", self.budget, field::because("there is no bound"));
    fields("why", self.why);
  }
};

// Compared with running the default every time. Counts only recurrences that reached and whose default is known.
struct SavingsView {
  std::uint64_t recurrences = 0;             // number counted
  Joules energy;                             // saved; negative: lost
  std::optional<Joules> energy_uncertainty;  // half-width of the 95 % interval of what was saved
  Joules energy_of_default;                  // what the same recurrences would have taken
  Seconds time;
  std::optional<Seconds> time_uncertainty;
  Seconds time_of_default;
  Joules cost;
  std::optional<Joules> cost_uncertainty;
  Joules cost_of_default;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrences", self.recurrences);
    fields("energy", self.energy);
    fields("energy_uncertainty", self.energy_uncertainty);
    fields("energy_of_default", self.energy_of_default);
    fields("time", self.time);
    fields("time_uncertainty", self.time_uncertainty);
    fields("time_of_default", self.time_of_default);
    fields("cost", self.cost);
    fields("cost_uncertainty", self.cost_uncertainty);
    fields("cost_of_default", self.cost_of_default);
  }
};

// What the job has taken since its first recurrence: every try, all measuring, running recurrences too.
struct SpentView {
  std::uint64_t recurrences = 0;  // that have begun
  Joules energy;
  Joules energy_uncertainty;  // half-width of the 95 % interval
  Seconds time;
  Joules cost;
  std::uint64_t energy_unknown = 0;  // recurrences of whose energy a part is unknown, and in no sum
  // The part of all this that no SavingsView counts: the recurrence runs, did not reach, or its default is unknown.
  std::uint64_t others = 0;
  Joules energy_of_others;
  Seconds time_of_others;
  Joules cost_of_others;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrences", self.recurrences);
    fields("energy", self.energy);
    fields("energy_uncertainty", self.energy_uncertainty);
    fields("time", self.time);
    fields("cost", self.cost);
    fields("energy_unknown", self.energy_unknown);
    fields("others", self.others);
    fields("energy_of_others", self.energy_of_others);
    fields("time_of_others", self.time_of_others);
    fields("cost_of_others", self.cost_of_others);
  }
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
  std::optional<Joules> best_cost;  // the lowest of a recurrence so far
  NextView next;
  std::optional<int> settled;  // the batch size on which it has (jobs/settling.hpp)
  SpentView spent;
  std::optional<SavingsView> savings;       // nothing while the default's cost is unknown
  std::optional<SavingsView> savings_last;  // of the last five that count
  std::string savings_unknown;              // why there are none

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("definition", self.definition);
    fields("device", self.device);
    fields("created", self.created);
    fields("entries", self.entries);
    fields("best_cost", self.best_cost, field::because("no recurrence has reached its target on these devices"));
    fields("next", self.next);
    fields("settled", self.settled, field::because("its last recurrences and its policy's belief name no single one"));
    fields("spent", self.spent);
    fields("savings", self.savings, field::because(self.savings_unknown));
    fields("savings_of_last_five", self.savings_last, field::because(self.savings_unknown));
    fields("batch_sizes", self.arms);
    constexpr field::Rule any_number{.members = std::numeric_limits<std::size_t>::max()};
    fields("recurrences", self.recurrences, any_number);
    fields("tries", self.tries, any_number);
  }
};

std::string_view to_string(RecurrenceState state);

// The object that docs/cli.md promises for `zeus jobs NAME --json`, on one line.
std::string to_json(const JobView& job);
// Reads what to_json() wrote, apart from owners, which it does not write. Anything else is a corrupt_data Error.
JobView job_view_from_json(std::string_view text);

}  // namespace zeus::records
