#include "optimize/power_limit/goal.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace zeus::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PowerMeasurement at(Watts limit, Seconds time, Joules energy, Seconds doubt = {}) {
  return {.setting = {.limit = limit, .clock = {}},
          .steps = 10,
          .step_time = time,
          .step_time_uncertainty = doubt,
          .step_energy = {.value = energy},
          .capped = {}};
}

// At 300 W a step takes 1 s and 290 J. Lower limits take more time and less energy, until 100 W takes more of both.
const std::vector<PowerMeasurement> curve{at(300_W, 1_s, 290_J), at(200_W, 1.05_s, 205_J), at(150_W, 1.3_s, 190_J),
                                          at(100_W, 2.5_s, 240_J)};

std::optional<Watts> chosen(const PowerGoal& goal, const std::vector<PowerMeasurement>& measurements = curve,
                            double eta = 0.5) {
  const std::optional<PowerSetting> setting = choose_setting(goal, EnergyTimeCost{eta, 300_W}, measurements);
  return setting ? std::optional{setting->limit} : std::nullopt;
}

TEST(Goal, EachKindChoosesWhatItsNamePromises) {
  EXPECT_EQ(chosen(LeastTime{}), 300_W);
  EXPECT_EQ(chosen(LeastEnergy{}), 150_W);
  // eta x energy + (1 - eta) x 300 W x time: 295, 260, 290 and 495 J.
  EXPECT_EQ(chosen(LeastCost{}, curve, 0.5), 200_W);
  EXPECT_EQ(chosen(LeastCost{}, curve, 1.0), 150_W);
  EXPECT_EQ(chosen(LeastCost{}, curve, 0.0), 300_W);
  EXPECT_EQ(chosen(PowerSelector{[](std::span<const LimitProfile> profiles) { return profiles.size() - 1; }}), 100_W);
}

TEST(Goal, TheCostUsesTheHighestLimitOfTheDeviceNotTheHighestMeasured) {
  const std::vector<PowerMeasurement> low{at(200_W, 1_s, 200_J), at(100_W, 1.5_s, 140_J)};
  // With 200 W: 200 and 220 J. With 100 W, it would be 150 and 145 J.
  EXPECT_EQ(choose_setting(LeastCost{}, EnergyTimeCost{0.5, 200_W}, low)->limit, 200_W);
  EXPECT_EQ(choose_setting(LeastCost{}, EnergyTimeCost{0.5, 100_W}, low)->limit, 100_W);
}

TEST(Goal, WithoutMeasurementsItChoosesNothing) {
  EXPECT_FALSE(chosen(LeastCost{}, {}));
  EXPECT_FALSE(chosen(MaxSlowdown{}, {}));
}

TEST(Goal, ABoundChoosesTheLeastEnergyAmongSettingsKnownToBeFastEnough) {
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.0}), 300_W);
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.05}), 200_W) << "exactly as slow as allowed";
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.29}), 200_W);
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.3}), 150_W);
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 9}), 150_W);
}

TEST(Goal, ABoundExcludesASettingFastEnoughOnlyByItsMean) {
  // 200 W is 5 % below a bound of 10 %. Its standard deviation is 0.1 s / 1.96 = 0.051 s, and the fastest is known
  // exactly. One-sided, 1.10 - 1.05 = 0.05 s is 0.98 standard deviations: certain to 84 %, not to 95 %.
  const std::vector<PowerMeasurement> doubtful{at(300_W, 1_s, 290_J), at(200_W, 1.05_s, 205_J, 0.1_s)};
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.1, .confidence = 0.95}, doubtful), 300_W);
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.1, .confidence = 0.8}, doubtful), 200_W);
  EXPECT_THAT(undecided(MaxSlowdown{.factor = 1.1}, {.limit = 300_W, .clock = {}}, doubtful),
              ElementsAre(PowerSetting{.limit = 200_W, .clock = {}}, PowerSetting{.limit = 300_W, .clock = {}}));
}

TEST(Goal, UncertaintyOfTheFastestIsUncertaintyOfTheBound) {
  // The same 0.05 s, now against 1.1 times the fastest's 0.1 s / 1.96: 0.89 standard deviations, 81 %.
  const std::vector<PowerMeasurement> doubtful{at(300_W, 1_s, 290_J, 0.1_s), at(200_W, 1.05_s, 205_J)};
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.1, .confidence = 0.82}, doubtful), 300_W);
  EXPECT_EQ(chosen(MaxSlowdown{.factor = 1.1, .confidence = 0.80}, doubtful), 200_W);
}

TEST(Goal, ASettingThatSavesNothingOrIsTooSlowByItsMeanIsDecided) {
  EXPECT_THAT(undecided(MaxSlowdown{.factor = 1.1}, {.limit = 200_W, .clock = {}}, curve), IsEmpty());
  EXPECT_THAT(undecided(LeastCost{}, {.limit = 200_W, .clock = {}}, curve), IsEmpty());
}

TEST(Goal, InvalidGoalsAreErrors) {
  for (const PowerGoal& goal :
       {PowerGoal{MaxSlowdown{.factor = 0.9}}, PowerGoal{MaxSlowdown{.factor = 1.1, .confidence = 1.0}},
        PowerGoal{MaxSlowdown{.factor = 1.1, .confidence = 0}}, PowerGoal{PowerSelector{}}}) {
    EXPECT_THROW(static_cast<void>(selector_of(goal, EnergyTimeCost{0.5, 300_W})), Error) << goal.index();
  }
}

}  // namespace
}  // namespace zeus::optimize
