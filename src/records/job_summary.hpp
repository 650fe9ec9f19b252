// A recurring job as shown in a list of many, with what it took and saved on each day. jobs/ makes it from the job's
// history; store/ keeps it with the history and computes sums over all jobs. It caches what the entries show. Plain
// values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"
#include "records/job_view.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

struct Spent {
  Joules energy;
  Seconds time;
  Joules cost;  // energy and time, as the job weighs them

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    // Sums of values in their ranges (zeus/fields.hpp) are within this.
    constexpr field::Rule sum{.least = -1e40, .most = 1e40};
    fields("energy", self.energy, sum);
    fields("time", self.time, sum);
    fields("cost", self.cost, sum);
  }
  friend bool operator==(const Spent&, const Spent&) = default;
  friend Spent operator+(const Spent& a, const Spent& b) {
    return {.energy = a.energy + b.energy, .time = a.time + b.time, .cost = a.cost + b.cost};
  }
  friend Spent operator*(const Spent& a, double factor) {
    return {.energy = a.energy * factor, .time = a.time * factor, .cost = a.cost * factor};
  }
};

// The sum if the errors of both are independent.
Spent together(const Spent& a, const Spent& b);

// The unit in which the length of a default run is counted: epochs, or seconds if nothing reports epochs. `known`: its
// number of epochs is final.
enum class CountUnit { known, epoch, second };

constexpr auto names_of(CountUnit /*unit*/) {
  return std::array<field::Name<CountUnit>, 3>{
      {{CountUnit::known, "known"}, {CountUnit::epoch, "epoch"}, {CountUnit::second, "second"}}};
}

// How many epochs (or seconds) a default run takes on average, with the half-width of its 95 % interval.
struct CountedEpochs {
  CountUnit unit = CountUnit::epoch;
  double mean = 0.0;
  double half_width = 0.0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("unit", self.unit);
    fields("mean", self.mean);
    fields("half_width", self.half_width);
  }
  friend bool operator==(const CountedEpochs&, const CountedEpochs&) = default;
};

// Sums over the recurrences that reached on one day of UTC and whose default is known. The default for them is
//
//   start + mean x epoch
//
// with three errors. Each is about the same in all recurrences of a job, so their half-widths add up:
//
//   start_half_width, mean x epoch_half_width, and half_width x epoch + count_half_width,
//
// where mean and half_width are those of the job's CountedEpochs, if it has the same unit. If the unit is `known`, they
// have been put in already: `start` is the whole, `epoch` is 0, and the mean is 1.
struct DaySums {
  std::int64_t day = 0;  // since 1970
  CountUnit unit = CountUnit::known;
  std::uint64_t recurrences = 0;
  Spent took;
  // The squares of the half-widths of what they took, in J^2: the errors of recurrences are independent. Times are
  // exact.
  double energy_squares = 0.0;
  double cost_squares = 0.0;
  Spent start;
  Spent start_half_width;
  Spent epoch;
  Spent epoch_half_width;
  Spent count_half_width;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("day", self.day);
    fields("unit", self.unit);
    fields("recurrences", self.recurrences);
    fields("took", self.took);
    fields("energy_squares", self.energy_squares);
    fields("cost_squares", self.cost_squares);
    fields("start", self.start);
    fields("start_half_width", self.start_half_width);
    fields("epoch", self.epoch);
    fields("epoch_half_width", self.epoch_half_width);
    fields("count_half_width", self.count_half_width);
  }
  friend bool operator==(const DaySums&, const DaySums&) = default;
};

// The sums of both, over any days, in one unit.
DaySums operator+(const DaySums& a, const DaySums& b);

// The sums with the epochs put in, and then of unit `known`; nothing if `counted` does not apply to them.
std::optional<DaySums> evaluated(const DaySums& sums, const std::optional<CountedEpochs>& counted);

// The savings over all of these, as far as they are known; nothing if none is known.
std::optional<SavingsView> savings_of(std::span<const DaySums> sums, const std::optional<CountedEpochs>& counted);

// A recurrence that is running.
struct RunningSummary {
  std::uint64_t recurrence = 0;  // from 1
  std::string host;
  std::int64_t pid = 0;
  std::string command;
  std::string user;                         // empty if unknown
  std::optional<std::uint64_t> try_number;  // from 1; nothing between two tries
  int batch_size = 0;
  int epochs = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("host", self.host);
    fields("pid", self.pid);
    fields("command", self.command);
    fields("user", self.user);
    fields("try", self.try_number, field::because("it is between two tries"));
    fields("batch_size", self.batch_size);
    fields("epochs", self.epochs);
  }
  friend bool operator==(const RunningSummary&, const RunningSummary&) = default;
};

struct JobSummary {
  std::string name;
  WallTime created;
  WallTime changed;           // when its last entry was written
  std::uint64_t entries = 0;  // of its history
  std::string device;         // "1 x NVIDIA A100-SXM4-40GB"
  bool has_batch_sizes = true;
  std::uint64_t recurrences = 0;
  std::uint64_t reached = 0;
  std::uint64_t given_up = 0;
  std::uint64_t tries = 0;
  std::vector<RunningSummary> running;
  NextView next;
  // The sum over every try and all measuring with known energy, of running recurrences too; and of how many recurrences
  // a part of the energy is unknown.
  Spent took;
  Joules took_uncertainty;
  std::uint64_t energy_unknown = 0;
  std::optional<SavingsView> savings;
  std::string savings_unknown;           // why there are none
  std::optional<CountedEpochs> counted;  // used to put the sums of its days together

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("created_us", self.created.microseconds_since_epoch);
    fields("changed_us", self.changed.microseconds_since_epoch);
    fields("entries", self.entries);
    fields("device", self.device);
    fields("has_batch_sizes", self.has_batch_sizes);
    fields("recurrences", self.recurrences);
    fields("reached", self.reached);
    fields("given_up", self.given_up);
    fields("tries", self.tries);
    fields("running", self.running, field::Rule{.members = most_running});
    fields("next", self.next);
    fields("took", self.took);
    fields("took_uncertainty", self.took_uncertainty);
    fields("energy_unknown", self.energy_unknown);
    fields("savings", self.savings, field::because(self.savings_unknown));
    fields("savings_unknown", self.savings_unknown);
    fields("counted", self.counted, field::because("how many epochs the default takes is not known yet"));
  }

  static constexpr std::size_t most_running = 1'000'000;
};

// In place of a summary: the job's definition or history cannot be read.
struct UnreadableJob {
  std::string name;
  std::string why;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("why", self.why);
  }
  friend bool operator==(const UnreadableJob&, const UnreadableJob&) = default;
};

// "run batch size 128 at 250 W"
std::string to_text(const NextView& next, bool has_batch_sizes);

// One line of JSON, and back. Anything else is a corrupt_data Error.
std::string to_json(const JobSummary& summary);
JobSummary job_summary_from_json(std::string_view text);

}  // namespace zeus::records
