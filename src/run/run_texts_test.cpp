#include "run/run_texts.hpp"

#include "train/session.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <cerrno>

#include <cmath>

namespace zeus::run {
namespace {

TEST(RunTexts, AsksWhereTheBatchSizeGoes) {
  RunOptions options;
  options.command = {"python", "train.py"};
  EXPECT_FALSE(batch_size_question(options)) << "there is none to choose";
  options.batch_sizes = {32};
  EXPECT_FALSE(batch_size_question(options)) << "there is nothing to choose";
  options.batch_sizes = {16, 32};
  EXPECT_TRUE(batch_size_question(options));
  options.command.emplace_back("--batch={batch_size}");
  EXPECT_FALSE(batch_size_question(options));
}

TEST(RunTexts, AsksWhetherAMetricThatReachesAtOnceIsALoss) {
  const records::JobTarget rises{.metric = 0.5};
  EXPECT_TRUE(direction_question(rises, 1, 2.3)) << "a loss of 2.3 exceeds 0.5";
  EXPECT_FALSE(direction_question(rises, 2, 2.3)) << "it fell first";
  EXPECT_FALSE(direction_question(rises, 1, 0.6)) << "a good model, from a checkpoint say";
  EXPECT_FALSE(direction_question(rises, 1, std::nullopt));
  const records::JobTarget falls{.metric = 0.9, .higher_is_better = false};
  EXPECT_TRUE(direction_question(falls, 1, 0.1)) << "an accuracy of 0.1 is below 0.9";
  EXPECT_FALSE(direction_question(falls, 1, 0.8));
  EXPECT_NE(direction_question(falls, 1, 0.1)->find("without --lower-is-better"), std::string::npos);
}

class AloneText : public testing::Test {
 protected:
  AloneText() {
    result_.energy = Energy{.value = 1000_J, .uncertainty = {}, .systematic = {}};
    result_.time = 10_s;
    result_.profiling_time = 2_s;
    result_.applied = true;
    result_.optimum = PowerSetting{.limit = 150_W, .clock = {}};
    result_.profiling_steps = 50;
    ran(1000);
  }
  void ran(std::uint64_t steps) { result_.epochs = {EpochReport{.steps = steps}}; }
  void measured_curve() {
    measured(250_W, 0.080_s, 240_W, 0.01);
    measured(225_W, 0.083_s, 225_W, 0.01);
    measured(200_W, 0.087_s, 200_W, 0.01);
    measured(175_W, 0.093_s, 175_W, 0.01);
    measured(150_W, 0.101_s, 150_W, 0.01);
  }
  void measured(Watts limit, Seconds time, Watts power, double doubt) {
    result_.profile.measurements.push_back(
        {.setting = {.limit = limit, .clock = {}},
         .steps = 10,
         .step_time = time,
         .step_time_uncertainty = time * doubt,
         .step_energy = {.value = power * time, .uncertainty = power * time * doubt, .systematic = {}}});
  }

  TrainingResult result_;
};

TEST_F(AloneText, GivesTheChangeOfEnergyAndOfTimeWithTheirIntervals) {
  measured_curve();
  EXPECT_EQ(alone_text(result_, false),
            "1.00 kJ in 10.0 s at 150 W: compared with 250 W, a step takes 21 ± 3 % less energy and 26 ± 4 % more "
            "time; comparing limits took 2.0 s of it and 109 J more than 150 W takes, regained within this run");
}

TEST_F(AloneText, CountsTheRunsThatRegainWhatComparingTook) {
  measured_curve();
  measured(75_W, 0.400_s, 74_W, 0.01);
  ran(30);
  // 4.2 J a step for 50 steps, where a run saves 4.1 J a step.
  EXPECT_THAT(alone_text(result_, false), testing::EndsWith(" more than 150 W takes, regained after 2 to 3 such runs"));
  ran(0);
  EXPECT_THAT(alone_text(result_, false), testing::EndsWith("; whether that is regained cannot be told"))
      << "the length of a run is not known";
}

TEST_F(AloneText, DoesNotCallComparingRegainedWhereNoSavingIsKnown) {
  measured(250_W, 0.085_s, 140_W, 0.1);
  measured(150_W, 0.080_s, 140_W, 0.1);
  EXPECT_THAT(alone_text(result_, false), testing::EndsWith("; whether that is regained cannot be told"));
}

TEST_F(AloneText, SaysWhatTheNextLowerLimitWouldTakeWhereTheSlowdownIsBounded) {
  measured_curve();
  result_.optimum = PowerSetting{.limit = 200_W, .clock = {}};
  EXPECT_THAT(alone_text(result_, true), testing::HasSubstr("; at 175 W, the next lower limit, it would take 15 ± 3 % "
                                                            "less energy and 16 ± 3 % more time; "));
  EXPECT_THAT(alone_text(result_, false), testing::Not(testing::HasSubstr("the next lower")));
  result_.optimum = PowerSetting{.limit = 250_W, .clock = {}};
  EXPECT_THAT(alone_text(result_, true), testing::HasSubstr("; at 225 W, the next lower limit, it would take "));
  result_.optimum = PowerSetting{.limit = 150_W, .clock = {}};
  EXPECT_THAT(alone_text(result_, true), testing::HasSubstr("; no lower limit was compared; "));
}

TEST_F(AloneText, NamesNoLowerLimitWhereAClockWasKept) {
  measured_curve();
  result_.profile.measurements.push_back(result_.profile.measurements.back());
  result_.profile.measurements.back().setting = {.limit = 250_W, .clock = 900_MHz};
  result_.optimum = result_.profile.measurements.back().setting;
  EXPECT_THAT(alone_text(result_, true), testing::Not(testing::HasSubstr("lower")));
}

TEST_F(AloneText, DoesNotCallScatterASaving) {
  measured(250_W, 0.085_s, 140_W, 0.1);
  measured(150_W, 0.080_s, 140_W, 0.1);
  EXPECT_THAT(
      alone_text(result_, false),
      testing::ContainsRegex("no saving against 250 W could be told from chance \\([0-9]+ ± [0-9]+ % less energy and "
                             "[0-9]+ ± [0-9]+ % less time\\); "));
}

TEST_F(AloneText, SaysThatTheHighestLimitSavesNothing) {
  measured(250_W, 0.085_s, 140_W, 0.1);
  measured(150_W, 0.080_s, 140_W, 0.1);
  result_.optimum = PowerSetting{.limit = 250_W, .clock = {}};
  EXPECT_EQ(alone_text(result_, false),
            "1.00 kJ in 10.0 s at 250 W, the highest of those compared: nothing was saved; comparing limits took "
            "2.0 s of it");
}

TEST_F(AloneText, GivesTheChangeOfALockedClock) {
  for (const double clock : {1500.0, 1350.0, 1200.0, 1050.0}) {
    measured(250_W, Seconds{0.1 * 1500.0 / clock}, Watts{60.0 + 80.0 * std::pow(clock / 1500.0, 2.5)}, 0.01);
    result_.profile.measurements.back().setting.clock = clock < 1500.0 ? std::optional{Megahertz{clock}} : std::nullopt;
  }
  result_.optimum = PowerSetting{.limit = 250_W, .clock = Megahertz{1200}};
  EXPECT_THAT(alone_text(result_, false),
              testing::HasSubstr(" at 250 W and 1200 MHz: compared with 250 W, a step takes "));
}

TEST_F(AloneText, ClaimsNothingWhereTheHighestLimitHasNoEnergy) {
  measured(250_W, 0.085_s, 0_W, 0.1);
  measured(150_W, 0.080_s, 140_W, 0.1);
  EXPECT_THAT(alone_text(result_, false), testing::HasSubstr("what that saves is unknown"));
}

TEST_F(AloneText, SaysWhyNoLimitWasChosen) {
  result_.applied = false;
  result_.unoptimized = train::ended_while_profiling;
  EXPECT_EQ(alone_text(result_, false),
            "1.00 kJ in 10.0 s; nothing was saved: the training ended before profiling did; --profile-seconds measures "
            "each limit for less time");
}

TEST_F(AloneText, ClaimsNothingOfATrainingThatWasBeingProfiledAgain) {
  result_.applied = false;
  result_.unoptimized = std::string{train::ended_while_profiled_again} + ", because steps now take longer";
  EXPECT_EQ(alone_text(result_, false),
            "1.00 kJ in 10.0 s; what was saved is unknown: the training ended while its power limits were profiled "
            "again, because steps now take longer");
}

TEST_F(AloneText, StatesTheLimitThatWasInForceBeforeItWasProfiledAgain) {
  measured_curve();
  const std::string stated = alone_text(result_, false);
  result_.unoptimized = std::string{train::ended_while_profiled_again} + ", because steps now take longer";
  EXPECT_EQ(alone_text(result_, false), stated + "; " + result_.unoptimized);
}

class RecurrenceText : public testing::Test {
 protected:
  RecurrenceText() {
    job_.name = "nightly";
    job_.device.power_limits = {100_W, 250_W};
    night_ = {.number = 3, .state = records::RecurrenceState::reached, .energy = 900_J, .time = 10_s};
    night_.default_energy = 1000_J;
    night_.default_energy_uncertainty = 30_J;
    night_.default_time = 9.5_s;
    night_.default_time_uncertainty = 0.19_s;
    night_.default_unknown.clear();
  }

  records::JobView job_;
  records::RecurrenceView night_;
};

TEST_F(RecurrenceText, ASavingMustExceedItsUncertainty) {
  EXPECT_TRUE(has_saved(night_));
  night_.default_energy_uncertainty = 101_J;
  EXPECT_FALSE(has_saved(night_));
  night_.default_energy_uncertainty = 30_J;
  night_.energy = 1100_J;
  EXPECT_FALSE(has_saved(night_));
  night_.default_energy.reset();
  EXPECT_FALSE(has_saved(night_));
}

TEST_F(RecurrenceText, ShowsTheSavingWithItsInterval) {
  EXPECT_EQ(
      recurrence_text(job_, night_),
      "nightly #3: 900 J in 10.0 s; the default takes about 1.00 kJ in 9.5 s: 10 ± 3 % less energy, 5 ± 2 % more time");
}

TEST_F(RecurrenceText, SaysThatNothingIsLearnedFromATryThatIsLeftOut) {
  job_.tries.push_back({.number = 1, .recurrence = 3, .outcome = records::TryOutcome::reached});
  job_.tries.back().left_out = "another process has the GPU";
  EXPECT_EQ(recurrence_text(job_, night_),
            "nightly #3: done: 900 J in 10.0 s; nothing is learned from it: another process has the GPU");
}

TEST_F(RecurrenceText, ShowsWhatItsEnergyCostsAndEmits) {
  const records::EnergyRates rates{.price = records::parse_price("0.36EUR"), .carbon = records::parse_carbon("360g")};
  night_.uncertainty = 9_J;
  EXPECT_THAT(
      recurrence_text(job_, night_, rates),
      testing::StartsWith("nightly #3: 900 J (0.00009000 ± 0.00000090 EUR, 0.09000 ± 0.00090 g of CO2) in 10.0 s; "));
  night_.energy.reset();
  EXPECT_THAT(recurrence_text(job_, night_, rates), testing::HasSubstr("an unknown energy in 10.0 s"));
}

TEST(RunTexts, SpeaksOfPowerLimitsOnlyWhereTheyAreSet) {
  records::TryStarted started;
  started.why = "its cost is unknown";
  EXPECT_EQ(try_text(started, false, true), "try 1: the command, measuring its power limits: its cost is unknown");
  EXPECT_EQ(try_text(started, false, false), "try 1: the command: its cost is unknown");
}

TEST(RunTexts, GivesNoSumOfTheGpusThatAreKnown) {
  const Energy known{.value = 100_J, .uncertainty = 2_J, .systematic = {}};
  jobs::Try::Taken taken{.gpus = {{.gpu = "GPU-0", .energy = known}}, .time = 2_s, .unknown = {}};
  EXPECT_EQ(taken_text(taken, {}), "100 J in 2.0 s");
  taken.unknown = "the counter of GPU 1 was reset";
  EXPECT_EQ(taken_text(taken, {}), "an unknown energy in 2.0 s; the counter of GPU 1 was reset");
}

TEST(EndedText, BeginsWithAFailureOfTheCommand) {
  EXPECT_EQ(ended_text(0, "100 J in 2.0 s; nothing was saved"), "100 J in 2.0 s; nothing was saved");
  EXPECT_EQ(ended_text(3, "100 J in 2.0 s; nothing was saved"),
            "the command ended with exit code 3 after 100 J in 2.0 s; nothing was saved");
}

TEST_F(AloneText, GivesWhatAnObservedLimitWouldHaveChangedWithItsInterval) {
  measured_curve();
  result_.applied = false;
  result_.prediction = TrainingPrediction{.setting = *result_.optimum, .time = 11_s, .energy = *result_.energy};
  EXPECT_THAT(alone_text(result_, false),
              testing::ContainsRegex("^1.00 kJ in 10.0 s; at 150 W it would have been 1.00 kJ in 11.0 s, where a step "
                                     "takes [0-9]+ ± [0-9]+ % less energy and .* time than at 250 W$"));
  result_.optimum = PowerSetting{.limit = 250_W, .clock = {}};
  result_.prediction->setting = *result_.optimum;
  EXPECT_THAT(alone_text(result_, false), testing::EndsWith(", the highest of those compared: nothing would be saved"));
}

// Its steps took 1 kJ in 10 s, and its beginning another 100 J in 2 s, which no limit changes.
TEST_F(AloneText, CountsWhatTheCommandTookBesideItsSteps) {
  measured_curve();
  const Energy all{.value = 1100_J, .uncertainty = 2_J, .systematic = {}};
  const jobs::Try::Taken taken{.gpus = {{.gpu = "GPU-0", .energy = all}}, .time = 12_s, .unknown = {}};
  EXPECT_THAT(alone_text(of_the_command(result_, taken), false), testing::StartsWith("1.10 kJ in 12.0 s at 150 W: "));
  result_.applied = false;
  result_.prediction = TrainingPrediction{.setting = *result_.optimum, .time = 11_s, .energy = *result_.energy};
  result_.prediction->energy.value = 900_J;
  EXPECT_THAT(alone_text(of_the_command(result_, taken), false),
              testing::StartsWith("1.10 kJ in 12.0 s; at 150 W it would have been 1.00 kJ in 13.0 s"));
}

TEST_F(AloneText, ShowsWhatItsEnergyCosts) {
  measured_curve();
  EXPECT_THAT(alone_text(result_, false, {.price = records::parse_price("0.36EUR"), .carbon = {}}),
              testing::StartsWith("1.00 kJ (0.000100 EUR) in 10.0 s at 150 W: "));
}

TEST_F(RecurrenceText, OmitsAnUnknownEnergy) {
  night_.energy.reset();
  night_.uncertainty.reset();
  night_.energy_unknown = "its energy is unknown: the counter was reset";
  EXPECT_EQ(recurrence_text(job_, night_),
            "nightly #3: an unknown energy in 10.0 s; its energy is unknown: the counter was reset");
}

TEST_F(RecurrenceText, IncludesTheUncertaintyOfTheNightItself) {
  night_.uncertainty = 40_J;
  EXPECT_TRUE(recurrence_text(job_, night_).find("10 ± 5 % less energy") != std::string::npos);
}

TEST_F(RecurrenceText, ClaimsNoSavingThatChanceMayExplain) {
  night_.default_energy_uncertainty = 150_J;
  night_.default_time_uncertainty = 1_s;
  EXPECT_EQ(recurrence_text(job_, night_),
            "nightly #3: 900 J in 10.0 s; the default takes about 1.00 kJ in 9.5 s: no saving could be told "
            "from chance (energy ± 15 %)");
}

TEST_F(RecurrenceText, SaysWhatTheNextLowerLimitWouldTakeWhereTheSlowdownIsBounded) {
  const auto measured = [](Watts limit, Seconds epoch) {
    return records::LimitProfile{.limit = limit,
                                 .epoch_time = epoch,
                                 .average_power = limit,
                                 .epoch_time_uncertainty = epoch * 0.01,
                                 .average_power_uncertainty = limit * 0.01};
  };
  job_.arms = {{.batch_size = 32,
                .limits = {measured(150_W, 1.01_s), measured(175_W, 0.93_s), measured(200_W, 0.87_s),
                           measured(225_W, 0.83_s), measured(240_W, 0.80_s)}}};
  job_.tries = {{.recurrence = 3, .batch_size = 32, .outcome = records::TryOutcome::reached, .limit = 200_W}};
  EXPECT_THAT(recurrence_text(job_, night_), testing::EndsWith("5 ± 2 % more time"));
  job_.definition.max_slowdown = 1.1;
  EXPECT_THAT(recurrence_text(job_, night_),
              testing::EndsWith("5 ± 2 % more time; at 175 W, the next lower limit, an epoch would take 15 ± 3 % less "
                                "energy and 16 ± 3 % more time than at 240 W"));
  // As an older version of Zeus has recorded it.
  job_.arms[0].limits[4].epoch_time_uncertainty.reset();
  EXPECT_THAT(recurrence_text(job_, night_), testing::EndsWith(" more time than at 225 W"));
  job_.tries[0].limit = 150_W;
  EXPECT_THAT(recurrence_text(job_, night_), testing::EndsWith("5 ± 2 % more time; no lower limit was compared"));
}

TEST_F(RecurrenceText, ReportsWhyTheSavingIsUnknown) {
  night_.default_energy.reset();
  night_.default_unknown = "a reason";
  EXPECT_EQ(recurrence_text(job_, night_), "nightly #3: 900 J in 10.0 s; the saving is unknown: a reason");
  night_.state = records::RecurrenceState::given_up;
  night_.reason = "another reason";
  EXPECT_EQ(recurrence_text(job_, night_), "nightly #3: 900 J in 10.0 s; the saving is unknown: another reason");
}

TEST(RunTexts, SaysHowATryMissed) {
  Miss miss{.batch_size = 64, .epochs = 2, .energy = 63_J, .metric = {}, .exit_code = 3};
  EXPECT_EQ(miss_text(miss),
            "batch size 64 ended with exit code 3 after 2 epochs and 63.0 J: nothing was learned from it");
  miss.exit_code = 0;
  EXPECT_EQ(miss_text(miss),
            "batch size 64 ended without reporting a metric after 2 epochs and 63.0 J: nothing was learned from it");
  miss.metric = 0.5;
  EXPECT_EQ(miss_text(miss),
            "batch size 64 ended with exit code 0 after 2 epochs and 63.0 J: nothing was learned from it");
  miss.metric.reset();
  miss.energy.reset();
  EXPECT_THAT(miss_text(miss), testing::HasSubstr("after 2 epochs and an unknown energy: nothing was learned"));
  miss.batch_size.reset();
  EXPECT_EQ(miss_text(miss).find("the command ended without reporting a metric after 2 epochs"), 0U);
}

TEST(RunTexts, SaysOfASilentCommandThatItPrintedNothing) {
  RunOptions options;
  options.usual_steps = true;
  WatchedCommand::Seen seen;
  EXPECT_EQ(silence_text(options, seen),
            std::vector{std::string{"the command printed nothing, and without signs of progress power limits cannot be "
                                    "compared; let it print a line for each step or epoch"}});
  seen.strange_reports = 3;
  seen.cut_lines = true;
  seen.lost = {.bytes = 12, .error = ENOSPC};
  EXPECT_THAT(silence_text(options, seen),
              testing::ElementsAre(testing::StartsWith("the command printed a line longer than"),
                                   testing::StartsWith("3 lines written to $ZEUS_PROGRESS are not one of"),
                                   "12 bytes of the command's output could not be written: No space left on device"));
  seen = {};
  seen.output.lines = 1;
  EXPECT_EQ(silence_text(options, seen).at(0).find("none of the 1 line of the command looks like progress"), 0U);
  seen.error.lines = 2;
  EXPECT_EQ(silence_text(options, seen).at(0).find("none of 3 lines of the command looks like progress"), 0U);

  options.target = records::JobTarget{.metric = 0.9};
  options.patterns.metric = "accuracy ([0-9.]+)";
  EXPECT_EQ(
      silence_text(options, seen).at(0),
      "--metric-regex 'accuracy ([0-9.]+)' matched none of 3 lines of the command, so its target cannot be checked"
      "; try it with `grep -P` on the command's output");
  EXPECT_EQ(silence_text(options, {}).at(0),
            "the command printed no line that --metric-regex could match, so its target cannot be checked");
}

TEST(RunTexts, SaysHowCloseATargetOutOfReachWasAndWhatToDo) {
  RunOptions options;
  options.job = "nightly";
  options.target = records::JobTarget{.metric = 0.9};
  const records::FailedTries never{.tries = 1, .never_reached = true};
  EXPECT_EQ(give_up_text(options, never, Closest{.metric = 0.71, .batch_size = 1}),
            "the target of 0.9 was missed, and has never been reached: the closest was 0.71; set an easier target "
            "(target_metric) or allow more epochs (max_epochs) with `zeus jobs nightly redefine`");
  EXPECT_NE(give_up_text(options, never, {}).find("no metric was seen"), std::string::npos);
  options.batch_sizes = {16, 32};
  EXPECT_NE(give_up_text(options, never, Closest{.metric = 0.71, .batch_size = 32}).find("0.71, at batch size 32;"),
            std::string::npos);
  EXPECT_NE(give_up_text(options, {.tries = 20}, {}).find("20 tries have missed the target"), std::string::npos);
}

TEST(RunTexts, SaysWhyLimitsWereNotComparedAndWhatWouldHelp) {
  Unmeasured training{.limits = 5, .time = 3_s, .steps = true, .epochs = 2, .lines = {}};
  EXPECT_EQ(unmeasured_text(training),
            "not all of 5 power limits were compared: the training was over in 3.0 s; the next one goes on, and "
            "--power-limits W,W measures fewer");
  training.steps = false;
  EXPECT_EQ(unmeasured_text(training),
            "not all of 5 power limits were compared: no steps were seen, and 2 epochs is too few; print a line for "
            "each step, and match it with --step-regex");
  training.lines = ProposedExpression{.text = R"(it=(\d+))", .lines = 40, .examples = {"it=3 loss 0.2"}};
  EXPECT_EQ(
      unmeasured_text(training),
      "not all of 5 power limits were compared, since no steps were seen: if lines like 'it=3 loss 0.2' count steps, "
      "give --step-regex 'it=(\\d+)'");
  training.limits = 1;
  EXPECT_EQ(unmeasured_text(training)->find("what an epoch takes was not measured, since"), 0U);
  training.lines.reset();
  training.steps = true;
  EXPECT_EQ(unmeasured_text(training),
            "what an epoch takes was not measured: the training was over in 3.0 s; the next one goes on");
  training.steps = false;
  training.epochs = 0;
  EXPECT_FALSE(unmeasured_text(training)) << "it is said that nothing looked like progress";
}

TEST(RunTexts, ReportsTheTimeAfterTheTargetIfItIsLong) {
  const records::GpuEnergy energy{.gpu = "GPU-0", .energy = {.value = 500_J, .uncertainty = {}, .systematic = {}}};
  jobs::Try::Taken after{.gpus = {energy}, .time = 4_s, .unknown = {}};
  EXPECT_FALSE(after_target_text(100_s, after)) << "4 s of 104 s: the model was saved";
  EXPECT_NE(after_target_text(60_s, after)->find("went on for 4.0 s and took 500 J more"), std::string::npos);
  after.unknown = "the counter went back";
  EXPECT_EQ(after_target_text(60_s, after)->find(" J"), std::string::npos);
}

}  // namespace
}  // namespace zeus::run
