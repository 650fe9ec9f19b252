#include "optimize/batch_size/profile_book.hpp"

#include "tests/support/job_events.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace zeus::optimize {
namespace {

using records::LimitProfile;

// With eta 1, an epoch costs 1800, 1560 and 2000 J.
const LimitProfile low_limit{100_W, 20_s, 90_W};
const LimitProfile middle_limit{150_W, 12_s, 130_W};
const LimitProfile high_limit{200_W, 10_s, 200_W};

JobSpec two_sizes() {
  return test::energy_job({8, 16}, 16);
}

std::vector<Watts> limits_of(const ProfileBook& book, std::size_t arm) {
  std::vector<Watts> limits;
  for (const LimitProfile& profile : book.limits(arm)) {
    limits.push_back(profile.limit);
  }
  return limits;
}

TEST(ProfileBook, IsEmptyBeforeTheFirstMeasurement) {
  const ProfileBook book{two_sizes()};
  EXPECT_FALSE(book.profiled(0));
  EXPECT_TRUE(book.limits(1).empty());
  EXPECT_EQ(book.find(0, 100_W), nullptr);
}

TEST(ProfileBook, KeepsEachArmsLimitsInAscendingOrder) {
  ProfileBook book{two_sizes()};
  book.add(1, std::array{high_limit, low_limit});
  book.add(1, std::array{middle_limit});
  EXPECT_EQ(limits_of(book, 1), (std::vector{100_W, 150_W, 200_W}));
  EXPECT_TRUE(book.profiled(1));
  EXPECT_FALSE(book.profiled(0));
}

TEST(ProfileBook, ANewMeasurementReplacesTheOldOneOfTheSameLimit) {
  ProfileBook book{two_sizes()};
  book.add(0, std::array{low_limit, middle_limit, high_limit});
  book.add(0, std::array{LimitProfile{200_W, 10_s, 100_W}});
  EXPECT_EQ(limits_of(book, 0).size(), 3U);
  EXPECT_EQ(book.best(0).limit, 200_W);
  EXPECT_EQ(book.epoch_cost(0), 1000_J);
}

TEST(ProfileBook, TheBestLimitIsTheCheapestForEta) {
  JobSpec spec = two_sizes();
  ProfileBook energy{spec};
  energy.add(0, std::array{low_limit, middle_limit, high_limit});
  EXPECT_EQ(energy.best(0).limit, 150_W);
  EXPECT_EQ(energy.epoch_cost(0), 1560_J);
  spec.eta = 0.0;
  ProfileBook time{spec};
  time.add(0, std::array{low_limit, middle_limit, high_limit});
  EXPECT_EQ(time.best(0).limit, 200_W);
  EXPECT_EQ(time.epoch_cost(0), 2000_J) << "10 s of 200 W at most";
}

// The fastest epoch takes 10 s: a factor of 1.2 allows 12 s, the middle limit; 1.19 does not.
TEST(ProfileBook, LimitsThatSlowAnEpochTooMuchAreNotTheBest) {
  const auto best = [](double slowdown, std::vector<LimitProfile> profiles) {
    JobSpec spec = two_sizes();
    spec.max_slowdown = slowdown;
    ProfileBook book{spec};
    book.add(0, profiles);
    EXPECT_EQ(book.epoch_cost(0), book.cost().of_epoch(book.best(0)));
    return book.best(0).limit;
  };
  EXPECT_EQ(best(1.2, {low_limit, middle_limit, high_limit}), 150_W);
  EXPECT_EQ(best(1.19, {low_limit, middle_limit, high_limit}), 200_W);
  EXPECT_EQ(best(3.0, {low_limit, middle_limit, high_limit}), 150_W);
  const LimitProfile frugal{100_W, 11_s, 80_W};  // 880 J
  EXPECT_EQ(best(1.5, {frugal, middle_limit, high_limit}), 100_W);
  const LimitProfile alike{200_W, 12_s, 130_W};
  EXPECT_EQ(best(1.5, {middle_limit, alike}), 200_W) << "of equal limits the highest";
}

// Slices showed 20 s and 10 s, and whole epochs of the second 5 s, so the first takes 10 s. A slice that happened to be
// short makes 100 W the fastest of all by a third. The others cost 1300, 1500 and 2000 J.
TEST(ProfileBook, DoesNotChooseALimitThatSeemsImpossiblyFast) {
  ProfileBook book{two_sizes()};
  const auto measured = [](Watts limit, Seconds time, Watts power) {
    return LimitProfile{.limit = limit,
                        .epoch_time = time,
                        .average_power = power,
                        .epoch_time_uncertainty = 0_s,
                        .average_power_uncertainty = 0_W};
  };
  book.add(0, std::array{measured(100_W, 7_s, 90_W), measured(150_W, 10_s, 130_W), measured(175_W, 10_s, 150_W),
                         measured(200_W, 10_s, 200_W)});
  EXPECT_EQ(book.best(0).limit, 150_W);
  EXPECT_EQ(limits_of(book, 0).size(), 4U) << "its measurement is kept";
}

TEST(ProfileBook, WholeEpochsOfOneLimitScaleAllLimits) {
  ProfileBook book{two_sizes()};
  book.add(0, std::array{LimitProfile{100_W, 20_s, 80_W}, LimitProfile{200_W, 10_s, 160_W}});
  book.follow(0, {200_W, 5_s, 120_W});
  EXPECT_DOUBLE_EQ(book.find(0, 200_W)->epoch_time.value(), 5.0);
  EXPECT_DOUBLE_EQ(book.find(0, 200_W)->average_power.value(), 120.0);
  EXPECT_DOUBLE_EQ(book.find(0, 100_W)->epoch_time.value(), 10.0);
  EXPECT_DOUBLE_EQ(book.find(0, 100_W)->average_power.value(), 60.0);
  EXPECT_EQ(book.epoch_cost(0), book.cost().of_epoch(book.best(0)));
}

TEST(ProfileBook, WholeEpochsOfAnUnmeasuredLimitAddItsMeasurement) {
  ProfileBook book{two_sizes()};
  book.follow(0, {200_W, 5_s, 120_W});
  EXPECT_EQ(limits_of(book, 0), (std::vector{200_W}));
  EXPECT_EQ(book.epoch_cost(0), book.cost().of_epoch({200_W, 5_s, 120_W}));
}

TEST(ProfileBook, ForgetsAnArmWhoseEpochsHaveChanged) {
  ProfileBook book{two_sizes()};
  book.add(0, std::array{LimitProfile{100_W, 20_s, 80_W}, LimitProfile{200_W, 10_s, 160_W}});
  // However wrong slices are, they do not count as a change.
  book.follow(0, {200_W, 5_s, 160_W});
  EXPECT_TRUE(book.profiled(0));
  book.follow(0, {200_W, 5.5_s, 160_W});
  EXPECT_DOUBLE_EQ(book.find(0, 100_W)->epoch_time.value(), 11.0);
  book.follow(0, {200_W, 2_s, 160_W});
  EXPECT_FALSE(book.profiled(0));
}

TEST(ProfileBook, ForgetsAnArmWhoseLowerLimitSeemsFaster) {
  ProfileBook book{two_sizes()};
  book.add(0, std::array{LimitProfile{100_W, 7_s, 80_W}, LimitProfile{200_W, 10_s, 160_W}});
  EXPECT_TRUE(book.profiled(0));
  book.follow(0, {100_W, 7_s, 80_W});
  EXPECT_FALSE(book.profiled(0));
}

TEST(ProfileBook, FindsTheMeasurementOfALimit) {
  ProfileBook book{two_sizes()};
  book.add(0, std::array{low_limit, high_limit});
  ASSERT_NE(book.find(0, 100_W), nullptr);
  EXPECT_EQ(book.find(0, 100_W)->epoch_time, 20_s);
  EXPECT_EQ(book.find(0, 200_W)->epoch_time, 10_s);
  EXPECT_EQ(book.find(0, 150_W), nullptr);
  EXPECT_EQ(book.find(0, 250_W), nullptr);
}

TEST(ProfileBook, AddingNoMeasurementsChangesNothing) {
  ProfileBook book{two_sizes()};
  book.add(0, {});
  EXPECT_FALSE(book.profiled(0));
}

TEST(ProfileBook, ANewDeviceEmptiesTheBookAndSetsItsMaximumPower) {
  JobSpec spec = two_sizes();
  spec.eta = 0.0;
  ProfileBook book{spec};
  book.add(0, std::array{high_limit});
  book.begin_with(500_J);
  book.restart(400_W);
  EXPECT_FALSE(book.start_cost());
  EXPECT_FALSE(book.profiled(0));
  EXPECT_EQ(book.cost().max_power(), 400_W);
  EXPECT_EQ(book.cost().eta(), 0.0);
  book.add(0, std::array{high_limit});
  EXPECT_EQ(book.epoch_cost(0), 4000_J);
}

TEST(ProfileBook, IsUnchangedByASaveAndRestore) {
  const JobSpec spec = two_sizes();
  ProfileBook kept{spec};
  kept.restart(400_W);
  kept.add(0, std::array{low_limit, middle_limit, high_limit});
  kept.add(1, std::array{high_limit});
  kept.begin_with(500_J);
  StateWriter writer;
  kept.save(writer);
  const std::string text = writer.take();
  ProfileBook restored{spec};
  StateReader reader{text};
  restored.restore(reader);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(restored.cost().max_power(), 400_W);
  EXPECT_EQ(restored.start_cost(), 500_J);
  EXPECT_EQ(limits_of(restored, 0), limits_of(kept, 0));
  EXPECT_EQ(limits_of(restored, 1), limits_of(kept, 1));
  EXPECT_EQ(restored.best(0).limit, 150_W);
  EXPECT_EQ(restored.best(0).average_power, 130_W);
  EXPECT_EQ(restored.epoch_cost(0), 1560_J);
  EXPECT_EQ(restored.epoch_cost(1), 2000_J);
}

}  // namespace
}  // namespace zeus::optimize
