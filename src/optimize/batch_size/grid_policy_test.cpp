#include "optimize/batch_size/grid_policy.hpp"

#include "tests/support/job_events.hpp"
#include "tests/support/restored_policy.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace zeus::optimize {
namespace {

using records::TryOutcome;
using records::TryPurpose;
using test::ended;
using test::energy_job;
using test::submitted;

class Search {
 public:
  explicit Search(const JobSpec& spec) : spec_{spec}, profiles_{spec}, policy_{spec} {}

  // Batch size, limit, and whether it is an exploration.
  using Cell = std::tuple<int, Watts, bool>;
  [[nodiscard]] Cell next() const {
    const RunTry run = decide();
    return {spec_.batch_sizes[run.arm], run.limit.value(), run.purpose == TryPurpose::explore};
  }
  std::uint64_t start() {
    const RunTry run = decide();
    policy_.apply(submitted(number_, 0, spec_.batch_sizes[run.arm], run.purpose), profiles_);
    return number_++;
  }
  void end(std::uint64_t number, double cost, TryOutcome outcome = TryOutcome::reached) {
    policy_.apply(ended(number, 0, 8, cost, outcome), profiles_);
  }
  void run(double cost, TryOutcome outcome = TryOutcome::reached) { end(start(), cost, outcome); }
  void apply(const records::JobEvent& event) { policy_.apply(event, profiles_); }

 private:
  [[nodiscard]] RunTry decide() const { return std::get<RunTry>(policy_.decide({.spent = {}, .best = {}}, profiles_)); }

  JobSpec spec_;
  ProfileBook profiles_;
  GridPolicy policy_;
  std::uint64_t number_ = 0;
};

using Cell = Search::Cell;

// The default batch size first, then the others, ascending; limits from the largest down; then the cheapest cell.
TEST(GridPolicy, VisitsEveryCellOnceAndThenStaysAtTheCheapest) {
  Search search{energy_job({8, 16, 32}, 16)};
  std::vector<Cell> seen;
  for (const double cost : {90, 80, 85, 70, 50, 60, 99, 98, 50}) {
    seen.push_back(search.next());
    search.run(cost);
  }
  EXPECT_EQ(seen, (std::vector<Cell>{{16, 200_W, true},
                                     {16, 150_W, true},
                                     {16, 100_W, true},
                                     {8, 200_W, true},
                                     {8, 150_W, true},
                                     {8, 100_W, true},
                                     {32, 200_W, true},
                                     {32, 150_W, true},
                                     {32, 100_W, true}}));
  EXPECT_EQ(search.next(), (Cell{8, 150_W, false})) << "the first of the two that cost 50";
  search.run(10);
  EXPECT_EQ(search.next(), (Cell{8, 150_W, false}));
}

TEST(GridPolicy, ABatchSizeThatFailedIsLeftOut) {
  Search search{energy_job({8, 16, 32}, 16)};
  for (int limit = 0; limit < 3; ++limit) {
    search.run(80 - limit);
  }
  search.run(20, TryOutcome::stopped);
  EXPECT_EQ(search.next(), (Cell{32, 200_W, true}));
  search.run(100);
  search.run(20, TryOutcome::exhausted);
  EXPECT_EQ(search.next(), (Cell{16, 100_W, false})) << "the grid is finished; failures are not candidates";
}

// A failure leaves nothing out if no cell has converged yet, or if it is at the batch size of the best cell: under
// another limit the same epochs cost a different amount.
TEST(GridPolicy, AFailureOfTheFirstOrTheBestBatchSizeLeavesNothingOut) {
  Search search{energy_job({8, 16}, 16)};
  search.run(80, TryOutcome::stopped);
  EXPECT_EQ(search.next(), (Cell{16, 150_W, true}));
  search.run(70);
  search.run(90, TryOutcome::stopped);
  EXPECT_EQ(search.next(), (Cell{8, 200_W, true}));
  search.run(60);
  EXPECT_EQ(search.next(), (Cell{8, 150_W, true}));
}

TEST(GridPolicy, ALostTryIsNotAResult) {
  Search search{energy_job({8, 16}, 16)};
  search.run(80);
  search.run(1, TryOutcome::lost);
  search.run(70);
  search.run(1, TryOutcome::lost);
  EXPECT_EQ(search.next(), (Cell{8, 150_W, true})) << "8 is not left out";
  search.run(75);
  search.run(75);
  EXPECT_EQ(search.next(), (Cell{16, 100_W, false}));
}

// Tries in flight have their own cells, whichever ends first. A try that was not submitted here belongs to no cell.
TEST(GridPolicy, OverlappingTriesAreJudgedByTheirOwnCells) {
  Search search{energy_job({8}, 8)};
  const std::uint64_t first = search.start();
  const std::uint64_t second = search.start();
  const std::uint64_t third = search.start();
  EXPECT_EQ(search.next(), (Cell{8, 200_W, false})) << "nothing has ended: the first cell";
  search.end(third, 50);
  EXPECT_EQ(search.next(), (Cell{8, 100_W, false}));
  const std::uint64_t again = search.start();
  search.end(second, 40);
  search.end(99, 1);
  EXPECT_EQ(search.next(), (Cell{8, 150_W, false}));
  search.end(again, 30);
  EXPECT_EQ(search.next(), (Cell{8, 100_W, false})) << "it ran the best cell at the time of its start";
  search.end(first, 60);
  search.end(first, 1);
  EXPECT_EQ(search.next(), (Cell{8, 100_W, false})) << "a try ends once";
}

TEST(GridPolicy, NewLimitsRestartTheSearchWithoutFailedBatchSizes) {
  Search search{energy_job({8, 16}, 16)};
  search.run(80);
  search.run(70);
  search.run(75);
  search.run(20, TryOutcome::stopped);
  search.apply(records::DeviceChanged{.model = "same limits", .max_power = 250_W});
  EXPECT_EQ(search.next(), (Cell{16, 150_W, false}));
  const std::uint64_t from_before = search.start();
  search.apply(records::DeviceChanged{.model = "others", .max_power = 300_W, .power_limits = {250_W, 300_W}});
  EXPECT_EQ(search.next(), (Cell{16, 300_W, true}));
  search.end(from_before, 1);
  search.run(90);
  EXPECT_EQ(search.next(), (Cell{16, 250_W, true}));
  search.run(95);
  EXPECT_EQ(search.next(), (Cell{16, 300_W, false})) << "8 had failed";
}

TEST(GridPolicy, HasNoBeliefs) {
  const JobSpec spec = energy_job({8, 16, 32}, 16);
  EXPECT_EQ(GridPolicy{spec}.name(), "grid");
  const auto beliefs = GridPolicy{spec}.beliefs(ProfileBook{spec});
  EXPECT_EQ(beliefs.size(), 3U);
  EXPECT_FALSE(beliefs[0] || beliefs[1] || beliefs[2]);
}

TEST(GridPolicy, ContinuesFromItsSavedState) {
  const JobSpec spec = energy_job({8, 16, 32}, 16);
  test::expect_goes_on_from_its_saved_state(
      spec, [&spec] { return std::make_unique<GridPolicy>(spec); },
      {
          submitted(0, 0, 16, TryPurpose::explore),
          submitted(1, 1, 16, TryPurpose::explore),
          ended(0, 0, 16, 50),
          submitted(2, 1, 16, TryPurpose::explore),
          ended(2, 1, 16, 60),
          ended(1, 1, 16, 40),
          submitted(3, 2, 8, TryPurpose::explore),
          ended(3, 2, 8, 90, TryOutcome::stopped),
          submitted(4, 2, 32, TryPurpose::explore),
          ended(4, 2, 32, 90, TryOutcome::exhausted),
          submitted(5, 3, 16),
          records::DeviceChanged{.model = "other", .max_power = 300_W, .power_limits = {250_W, 300_W}},
          submitted(6, 4, 16, TryPurpose::explore),
          ended(6, 4, 16, 45),
          submitted(7, 5, 16, TryPurpose::explore),
          ended(7, 5, 16, 44),
      });
}

}  // namespace
}  // namespace zeus::optimize
