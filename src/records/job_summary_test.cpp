#include "records/job_summary.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace zeus::records {
namespace {

Spent spent(double energy) {
  return {.energy = Joules{energy}, .time = Seconds{energy / 100.0}, .cost = Joules{2.0 * energy}};
}

DaySums day(CountUnit unit, double scale) {
  return {.day = 20'000,
          .unit = unit,
          .recurrences = 2,
          .took = spent(300.0 * scale),
          .energy_squares = 9.0,
          .cost_squares = 36.0,
          .start = spent(100.0 * scale),
          .start_half_width = spent(3.0 * scale),
          .epoch = unit == CountUnit::known ? Spent{} : spent(20.0 * scale),
          .epoch_half_width = spent(0.4 * scale),
          .count_half_width = {}};
}

TEST(JobSummary, ComesBackAsItWasWritten) {
  JobSummary summary{.name = "a/b \"c\"",
                     .created = WallTime{12},
                     .changed = WallTime{13},
                     .entries = 7,
                     .device = "1 x V100",
                     .recurrences = 3,
                     .reached = 1,
                     .given_up = 1,
                     .tries = 4,
                     .running = {{.recurrence = 3, .host = "node", .pid = 4, .command = "zeus", .user = "ann"}},
                     .next = {.kind = NextKind::profile, .batch_size = 32, .profiles = {Watts{100}}, .why = "so"},
                     .took = spent(10),
                     .took_uncertainty = Joules{0.1},
                     .energy_unknown = 1,
                     .savings = {},
                     .savings_unknown = "the default was never run",
                     .counted = CountedEpochs{.mean = 10.5, .half_width = 0.5}};
  const std::string text = to_json(summary);
  EXPECT_EQ(to_json(job_summary_from_json(text)), text);
  summary.savings = savings_of(std::array{day(CountUnit::known, 1.0)}, {});
  summary.savings_unknown.clear();
  const std::string known = to_json(summary);
  EXPECT_EQ(to_json(job_summary_from_json(known)), known);
  EXPECT_THROW(static_cast<void>(job_summary_from_json("{}")), Error);
}

TEST(JobSummary, SumsOfDaysAreThoseOfTheWhole) {
  const CountedEpochs counted{.unit = CountUnit::epoch, .mean = 10.0, .half_width = 2.0};
  const std::array days = {day(CountUnit::epoch, 1.0), day(CountUnit::epoch, 2.0), day(CountUnit::known, 0.5)};
  const SavingsView all = savings_of(days, counted).value();
  EXPECT_EQ(all.recurrences, 6U);
  EXPECT_DOUBLE_EQ(all.energy_of_default.value(), 300.0 + 600.0 + 50.0);
  EXPECT_DOUBLE_EQ(all.energy.value(), 950.0 - 300.0 * 3.5);
  EXPECT_DOUBLE_EQ(all.energy_uncertainty->value(), std::hypot(std::hypot(3.0 * 3.5, 0.4 * 10.0 * 3.0 + 0.4 * 0.5),
                                                               std::hypot(2.0 * 60.0, std::sqrt(27.0))));
  EXPECT_DOUBLE_EQ(all.cost.value(), 2.0 * all.energy.value());
}

TEST(JobSummary, EpochsThatAreCountedInAnotherUnitAreNotPutIn) {
  const std::array days = {day(CountUnit::second, 1.0)};
  EXPECT_FALSE(savings_of(days, CountedEpochs{.unit = CountUnit::epoch, .mean = 3.0}));
  EXPECT_FALSE(savings_of(days, {}));
  EXPECT_TRUE(savings_of(days, CountedEpochs{.unit = CountUnit::second, .mean = 3.0}));
}

TEST(JobSummary, SaysWhatIsNext) {
  NextView next{.batch_size = 64, .limit = Watts{250}};
  EXPECT_EQ(to_text(next, true), "run batch size 64 at 250 W");
  EXPECT_EQ(to_text(next, false), "run at 250 W");
  next.limit.reset();
  EXPECT_EQ(to_text(next, false), "run, measuring the missing power limits");
  next.kind = NextKind::profile;
  next.profiles = {Watts{1}, Watts{2}};
  EXPECT_EQ(to_text(next, true), "measure 2 power limits of batch size 64");
}

}  // namespace
}  // namespace zeus::records
