#include "train/epoch_ledger.hpp"

#include <gtest/gtest.h>

namespace zeus::train {
namespace {

// An epoch of steps (each 2 s and 300 J) and of what follows them (10 s and 500 J).
Parts epoch(std::uint64_t steps) {
  const auto count = static_cast<double>(steps);
  Parts parts{};
  parts[static_cast<std::size_t>(Part::steps)] = {
      .time = 2_s * count, .energy = {.value = 300_J * count}, .known = true, .steps = steps};
  parts[static_cast<std::size_t>(Part::rest)] = {.time = 10_s, .energy = {.value = 500_J}, .known = true, .steps = 0};
  return parts;
}

class EpochLedgerTest : public ::testing::Test {
 protected:
  void train(const Parts& taken, bool settled = true, bool profiled = false) {
    ledger_.begin(settled);
    ledger_.end(profiled);
    ledger_.book(taken);
    ledger_.keep_cost_of_settled();
  }

  EpochLedger ledger_{optimize::EnergyTimeCost{0.5, 400_W}, true};
};

TEST_F(EpochLedgerTest, AnEpochIsWhatWasBookedToIt) {
  train(epoch(5));
  Parts late{};
  late[static_cast<std::size_t>(Part::rest)] = {.time = 3_s, .energy = {.value = 100_J}, .known = true, .steps = 0};
  ledger_.book(late);
  const EpochReport& report = ledger_.epochs().at(0);
  EXPECT_EQ(report.number, 1U);
  EXPECT_EQ(report.steps, 5U);
  EXPECT_EQ(report.time, 23_s);
  EXPECT_EQ(report.steps_time, 10_s);
  EXPECT_EQ(report.energy->value, 2100_J);
  EXPECT_EQ(report.cost, 0.5 * 2100_J + 200_W * 23_s);
}

TEST_F(EpochLedgerTest, OneUnknownEnergyMakesTheSumsUnknownAndNoOtherEpoch) {
  Parts unknown = epoch(5);
  unknown[static_cast<std::size_t>(Part::rest)].known = false;
  train(epoch(5));
  train(unknown);
  EXPECT_TRUE(ledger_.epochs().at(0).cost);
  EXPECT_FALSE(ledger_.epochs().at(1).energy);
  EXPECT_FALSE(ledger_.progress().cost);
  TrainingResult result;
  ledger_.sum_up(result);
  EXPECT_FALSE(result.energy);
  EXPECT_FALSE(result.cost);
  EXPECT_EQ(result.time, 40_s);
}

TEST_F(EpochLedgerTest, AnotherEpochCostsWhatTheLatestOneDidThatWasAtOneSetting) {
  train(epoch(5), false);
  EXPECT_FALSE(ledger_.settled_cost());
  train(epoch(6), true, true);
  EXPECT_FALSE(ledger_.settled_cost()) << "slices were measured in it";
  train(epoch(7));
  EXPECT_EQ(ledger_.settled_cost(), ledger_.epochs().at(2).cost);
  ledger_.unsettle();
  EXPECT_FALSE(ledger_.settled_cost());
}

TEST_F(EpochLedgerTest, AfterProfilingAnotherEpochIsTheStepsOfTheLatestAtWhatTheProfileSays) {
  const PowerSetting chosen{.limit = 250_W, .clock = {}};
  const PowerProfile profile{.gpu = {},
                             .complete = true,
                             .measurements = {{.setting = chosen,
                                               .steps = 10,
                                               .step_time = 2.5_s,
                                               .step_time_uncertainty = {},
                                               .step_energy = {.value = 200_J},
                                               .capped = {}}}};
  EXPECT_FALSE(ledger_.cost_of_another(profile, chosen)) << "how many steps are in one?";
  train(epoch(4), false, true);
  // Four steps of 2.5 s and 200 J, and what followed the steps before.
  EXPECT_EQ(ledger_.cost_of_another(profile, chosen), 0.5 * 1300_J + 200_W * 20_s);
  EXPECT_FALSE(ledger_.cost_of_another(profile, PowerSetting{.limit = 100_W, .clock = {}}));
  EXPECT_FALSE(ledger_.cost_of_another(profile, std::nullopt));
}

TEST_F(EpochLedgerTest, CountsTheLatestEpochsWithoutSteps) {
  EXPECT_EQ(ledger_.silent(), 0U);
  train(epoch(0));
  train(epoch(0));
  EXPECT_EQ(ledger_.silent(), 2U);
  train(epoch(1));
  EXPECT_EQ(ledger_.silent(), 0U);
  train(epoch(0));
  EXPECT_EQ(ledger_.silent(), 1U);
}

TEST_F(EpochLedgerTest, KeepsTheBestMetricForTheTargetAndTheLatestForTheEpoch) {
  const TrainingTarget low{.metric = 0.1, .higher_is_better = false};
  ledger_.begin(true);
  ledger_.report(0.4, true, low);
  ledger_.report(0.6, true, low);
  ledger_.end(false);
  EXPECT_EQ(ledger_.epochs().at(0).metric, 0.6);
  EXPECT_EQ(ledger_.progress().metric, 0.4);
  ledger_.report(0.5, false, low);
  EXPECT_EQ(ledger_.epochs().at(0).metric, 0.5) << "what follows the end of an epoch still belongs to it";
  ledger_.judge_anew();
  EXPECT_EQ(ledger_.progress().metric, 0.5);
}

}  // namespace
}  // namespace zeus::train
