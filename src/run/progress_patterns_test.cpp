#include "run/progress_patterns.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

namespace zeus::run {
namespace {

// Progress as a string, so that expectations read like what happened.
std::string describe(const std::vector<trial::Progress>& progress) {
  std::string text;
  for (const trial::Progress& one : progress) {
    text += text.empty() ? "" : " ";
    if (const auto* steps = std::get_if<trial::StepsDone>(&one)) {
      text += "s" + std::to_string(steps->count);
    } else if (const auto* epochs = std::get_if<trial::EpochsDone>(&one)) {
      text += "e" + std::to_string(epochs->count);
    } else {
      const double value = std::get<trial::MetricSeen>(one).value;
      text += std::isnan(value) ? "nan" : std::isinf(value) ? "inf" : "m" + std::to_string(value).substr(0, 4);
    }
  }
  return text;
}

std::string read_all(const PatternTexts& texts, const std::vector<std::string>& lines) {
  ProgressPatterns patterns{texts};
  std::string text;
  for (const std::string& line : lines) {
    text += "[" + describe(patterns.read(line)) + "]";
  }
  return text;
}

std::string pattern_refusal(const PatternTexts& texts) {
  try {
    ProgressPatterns{texts};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.what();
  }
  return "accepted";
}

TEST(ProgressPatterns, TakesTheMetricFromItsGroup) {
  EXPECT_EQ(
      read_all({.metric = R"(acc=([\d.]+))", .epoch = "^epoch"}, {"loss=3.1 acc=0.52", "nothing", "epoch 1 acc=0.6"}),
      "[m0.52][][m0.60 e1]");
}

TEST(ProgressPatterns, EndsAnEpochWithTheMetricIfNothingElseDoes) {
  EXPECT_EQ(read_all({.metric = "acc ([0-9.]+)"}, {"acc 0.5", "acc 0.6"}), "[m0.50 e1][m0.60 e1]");
}

TEST(ProgressPatterns, TakesNoDurationForAStepWhereItGuesses) {
  const PatternTexts guess{.step = R"(step[ :]*(\d+))", .counts_alone = true};
  EXPECT_EQ(
      read_all(guess, {"step: 14 ms", "step 0.35", "step 7s", "step 3 sec/step", "step 80 %", "step 2 \xc2\xb5s"}),
      "[][][][][][]");
  EXPECT_EQ(read_all(guess, {"step 1", "step 2 loss 0.5", "step 3: samples 7", "step 4.", "step 1/10"}),
            "[s1][s1][s1][s1][s1]");
  // Who gives an expression knows what it matches.
  EXPECT_EQ(read_all({.step = R"(step: (\d+))"}, {"step: 14 ms"}), "[s1]");
}

TEST(ProgressPatterns, SaysNothingWithoutExpressions) {
  EXPECT_EQ(read_all({}, {"epoch 1 step 2 acc=0.5"}), "[]");
}

TEST(ProgressPatterns, CountsEachMatchIfThereIsNoNumber) {
  EXPECT_EQ(read_all({.epoch = "^Epoch done", .step = "^it"}, {"it", "it", "Epoch done", "it"}), "[s1][s1][e1][s1]");
}

TEST(ProgressPatterns, FollowsTheNumbersOfAProgressBar) {
  EXPECT_EQ(read_all({.step = R"((\d+)/100)"}, {"0/100", "37/100", "37/100", "100/100", "0/100", "5/100"}),
            "[s1][s37][][s63][][s5]");
}

// How many steps each of three epochs has, by the numbers that are printed in it.
std::string steps_of_epochs(const std::vector<std::vector<int>>& epochs) {
  ProgressPatterns patterns{{.epoch = "^epoch", .step = R"(^(\d+)$)"}};
  std::string text;
  for (const std::vector<int>& numbers : epochs) {
    std::uint64_t steps = 0;
    for (const int number : numbers) {
      for (const trial::Progress& one : patterns.read(std::to_string(number))) {
        steps += std::get<trial::StepsDone>(one).count;
      }
    }
    text += std::to_string(steps) + " ";
  }
  return text;
}

TEST(ProgressPatterns, CountsAsManyStepsHoweverTheyAreNumbered) {
  const std::vector<int> from_zero{0, 1, 2, 3, 4};
  EXPECT_EQ(steps_of_epochs({from_zero, from_zero, from_zero}), "5 5 5 ");
  const std::vector<int> from_one{1, 2, 3, 4, 5};
  EXPECT_EQ(steps_of_epochs({from_one, from_one, from_one}), "5 5 5 ");
  const std::vector<int> hundreds{100, 200, 300, 400, 500};
  EXPECT_EQ(steps_of_epochs({hundreds, hundreds, hundreds}), "500 500 500 ");
  const std::vector<int> every_fourth{0, 4, 8, 12, 16};
  EXPECT_EQ(steps_of_epochs({every_fourth, every_fourth, every_fourth}), "20 20 20 ");
  EXPECT_EQ(read_all({.step = R"(step (\d+))"}, {"step 100", "step 200", "step 300", "step 400"}),
            "[s1][s100][s99 s100][s100]")
      << "what the first stands for is known with the third";
  EXPECT_EQ(steps_of_epochs({{4, 8, 12, 16, 20}, {24, 28, 32, 36, 40}, {44, 48, 52, 56, 60}}), "20 20 20 ");
}

// A bar that is drawn at intervals of time shows how many of an epoch's steps are over.
TEST(ProgressPatterns, TakesTheNumberOfABarForItsSteps) {
  EXPECT_EQ(steps_of_epochs({{3, 17, 38, 60}, {9, 31, 60}, {5, 21, 44, 60}}), "58 60 60 ");
}

// The steps that a line shows: how many, of which count, and whether that begins again.
std::string counts_in(ProgressPatterns& patterns, std::string_view line) {
  std::string text;
  for (const trial::Progress& one : patterns.read(line)) {
    const auto& steps = std::get<trial::StepsDone>(one);
    text += std::to_string(steps.count) + " of " + std::to_string(steps.series) + (steps.begins ? " again" : "");
  }
  return text;
}

TEST(ProgressPatterns, ABarOfEvaluationIsACountOfItsOwn) {
  ProgressPatterns patterns{{.step = R"((\d+)/\d+ \[)"}};
  EXPECT_EQ(counts_in(patterns, "20/40 ["), "1 of 0");
  EXPECT_EQ(counts_in(patterns, "40/40 ["), "20 of 0");
  EXPECT_EQ(counts_in(patterns, " 5/10 ["), "1 of 1");
  EXPECT_EQ(counts_in(patterns, "10/10 ["), "5 of 1");
  EXPECT_EQ(counts_in(patterns, "10/40 ["), "10 of 0 again");
  EXPECT_EQ(counts_in(patterns, "20/40 ["), "10 of 0");
  EXPECT_EQ(counts_in(patterns, "5/38 ["), "5 of 0 again") << "the next epoch has almost as many";
}

TEST(ProgressPatterns, SaysWhereACountBeginsAgain) {
  ProgressPatterns patterns{{.step = R"(step (\d+))"}};
  std::string text;
  for (const int number : {1, 2, 3, 4, 1, 2, 3, 4, 3, 4}) {
    text += counts_in(patterns, "step " + std::to_string(number)) + ", ";
  }
  EXPECT_EQ(text, "1 of 0, 1 of 0, 1 of 0, 1 of 0, 1 of 0 again, 1 of 0, 1 of 0, 1 of 0, , , ")
      << "a rank that is a step behind begins nothing, and its steps are known";
  EXPECT_EQ(counts_in(patterns, "step 0"), "1 of 0 again");
}

// The steps of these lines, and of how many it is said that a count begins again.
std::string steps_and_begins(std::string_view form, const std::vector<int>& numbers) {
  ProgressPatterns patterns{{.step = R"((\d+)(?:/\d+)?$)"}};
  std::uint64_t steps = 0;
  int begins = 0;
  for (const int number : numbers) {
    const std::string line = fmt::format(fmt::runtime(form), number);
    for (const trial::Progress& one : patterns.read(line)) {
      const auto& seen = std::get<trial::StepsDone>(one);
      steps += seen.count;
      begins += seen.begins ? 1 : 0;
    }
  }
  return fmt::format("{} steps, {} begin", steps, begins);
}

TEST(ProgressPatterns, ARankThatIsBehindAnotherCountsNothing) {
  constexpr std::string_view line = "step {}";
  constexpr std::string_view bar = "{}/600";
  const std::vector<int> each_step{498, 499, 500, 501, 500, 502, 501, 503, 502, 504, 503};
  EXPECT_EQ(steps_and_begins(line, each_step), "7 steps, 0 begin");
  EXPECT_EQ(steps_and_begins(bar, each_step), "7 steps, 0 begin");
  EXPECT_EQ(steps_and_begins(bar, {0, 37, 36, 80, 79, 78, 119, 118, 162}), "163 steps, 0 begin");
  EXPECT_EQ(steps_and_begins(line, {100, 200, 300, 300, 400, 300, 500, 400, 600}), "600 steps, 0 begin");
}

TEST(ProgressPatterns, ARankMayEndItsEpochAfterAnotherHasBegunTheNext) {
  EXPECT_EQ(steps_and_begins("step {}", {1, 2, 3, 4, 5, 6, 6, 1, 6, 1, 2, 2, 3, 3, 4}), "10 steps, 1 begin");
  EXPECT_EQ(steps_and_begins("{}/60", {0, 11, 25, 40, 52, 60, 0, 60, 1, 59, 0, 12, 60, 26}), "87 steps, 1 begin")
      << "bars";
}

TEST(ProgressPatterns, ACountThatBeginsAgainIsNoRankBehind) {
  EXPECT_EQ(steps_and_begins("step {}", {2, 4, 2, 4, 2, 4}), "11 steps, 0 begin");
  EXPECT_EQ(steps_and_begins("{}/60", {30, 60, 31, 60, 29, 60}), "151 steps, 1 begin") << "a bar drawn twice an epoch";
  EXPECT_EQ(steps_and_begins("{}/60", {0, 60, 0, 60, 0, 60}), "181 steps, 2 begin");
}

TEST(ProgressPatterns, TakesTheSameEpochPrintedAgainForOne) {
  EXPECT_EQ(read_all({.epoch = R"(Epoch (\d+))"}, {"Epoch 1: 10%", "Epoch 1: 90%", "Epoch 2: 3%", "Epoch 2: 99%"}),
            "[e1][][e1][]");
}

TEST(ProgressPatterns, CountsEpochsThatAreNotPrinted) {
  EXPECT_EQ(read_all({.epoch = R"(Epoch (\d+))"}, {"Epoch 5", "Epoch 10", "Epoch 15"}), "[e1][e5][e5]");
}

TEST(ProgressPatterns, DoesNotCountTheStepsBeforeACheckpoint) {
  EXPECT_EQ(read_all({.step = R"(global step (\d+))"}, {"global step 120000", "global step 120010"}), "[s1][s10]");
}

TEST(ProgressPatterns, PassesNanAndInfinityOn) {
  EXPECT_EQ(
      read_all({.metric = R"(loss: (\S+))", .epoch = "x"}, {"loss: nan", "loss: NaN", "loss: -inf", "loss: +1.5"}),
      "[nan][nan][inf][m1.50]");
}

TEST(ProgressPatterns, RemembersWhatWasNoNumber) {
  ProgressPatterns patterns{{.metric = R"(acc: (\S+))"}};
  EXPECT_TRUE(patterns.read("acc: 51,2%").empty());
  EXPECT_TRUE(patterns.read("acc: n/a").empty());
  EXPECT_EQ(patterns.matches().not_a_number, "51,2%");
  EXPECT_EQ(patterns.matches().metric, 0U);
  EXPECT_EQ(patterns.matches().lines, 2U);
}

TEST(ProgressPatterns, ReadsBytesOfNoEncoding) {
  EXPECT_EQ(read_all({.metric = "acc.*?([0-9.]+)"}, {"\xff\xfe acc \xc3\x28 0.7"}), "[m0.70 e1]");
  EXPECT_EQ(read_all({.metric = "Präzision: ([0-9.]+)"}, {"Präzision: 0.7"}), "[m0.70 e1]");
}

TEST(ProgressPatterns, SaysWhatIsWrongWithAnExpression) {
  EXPECT_EQ(
      pattern_refusal({.metric = "acc=(["}),
      "'--metric-regex acc=([' is not a regular expression: missing ]: [; the syntax is that of RE2: Perl's, without "
      "back-references and look-around");
  EXPECT_THAT(pattern_refusal({.epoch = R"((a)\1)"}), testing::HasSubstr("--epoch-regex"));
  EXPECT_THAT(pattern_refusal({.step = "a{1000000}"}), testing::HasSubstr("--step-regex"));
  EXPECT_THAT(pattern_refusal({.metric = "accuracy"}), testing::HasSubstr("does not say where the number is"));
}

TEST(ProgressPatterns, TakesTimeLinearInTheLine) {
  // Takes exponential time in an engine that backtracks.
  ProgressPatterns patterns{{.metric = "(x+x+)+y"}};
  EXPECT_TRUE(patterns.read(std::string(16384, 'x')).empty());
}

}  // namespace
}  // namespace zeus::run
