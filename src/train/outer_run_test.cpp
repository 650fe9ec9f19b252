#include "train/outer_run.hpp"

#include "tests/support/session_fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>

namespace zeus::train {
namespace {

const RunValues chosen_values{
    .batch_size = 64, .learning_rate = {}, .seed = {}, .epochs = 3, .target_metric = 0.5, .higher_is_better = false};

class OuterRunTest : public test::SessionTest {
 protected:
  OuterRunTest() { std::ofstream{file_}; }

  std::unique_ptr<OuterRun> outer(const RunValues& values = {}) {
    return std::make_unique<OuterRun>(file_, values, training_.clock());
  }
  SessionParts parts(const RunValues& values = {}) {
    SessionParts parts = training_.parts();
    parts.outer = outer(values);
    return parts;
  }
  [[nodiscard]] std::string told() const {
    std::ostringstream text;
    text << std::ifstream{file_}.rdbuf();
    return text.str();
  }
  // The reported steps in sums, however the reports were split.
  [[nodiscard]] std::string told_in_sums() const {
    std::istringstream lines{told()};
    std::string sums;
    int steps = 0;
    for (std::string word; lines >> word;) {
      std::string value;
      if (word == "step") {
        lines >> value;
        steps += std::stoi(value);
        continue;
      }
      sums += steps > 0 ? std::to_string(std::exchange(steps, 0)) + " steps, " : "";
      sums += word;
      if (word == "metric") {
        lines >> value;
        sums += " " + value;
      }
      sums += ", ";
    }
    return sums;
  }

  std::filesystem::path file_ = folder_.path() / "reports";
};

TEST_F(OuterRunTest, StepsInQuickSuccessionAreReportedTogetherAndNoneIsLost) {
  const auto run = outer();
  run->steps(1);
  training_.clock().advance(1_ms);
  run->steps(1);
  run->steps(2);
  EXPECT_EQ(told(), "step 1\n");
  training_.clock().advance(10_ms);
  run->steps(1);
  run->steps(1);
  run->metric(0.25);
  run->epoch();
  EXPECT_EQ(told(), "step 1\nstep 4\nstep 1\nmetric 0.25\nepoch\n");
}

TEST_F(OuterRunTest, AMissingOrSlowReaderDoesNotDelayTheTraining) {
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  FileDescriptor reader{::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  OuterRun run{pipe, {}, training_.clock()};
  for (int i = 0; i < 20'000; ++i) {
    run.epoch();
  }
  std::array<char, 4096> buffer{};
  std::size_t epochs = 0;
  const auto read_all = [&] {
    ssize_t count = 0;
    while ((count = ::read(reader.get(), buffer.data(), buffer.size())) > 0) {
      epochs += static_cast<std::size_t>(std::count(buffer.begin(), buffer.begin() + count, '\n'));
    }
  };
  for (int i = 0; i < 10; ++i) {
    read_all();
    run.flush();
  }
  EXPECT_EQ(epochs, 20'000U);
  reader.close();
  run.epoch();
  run.epoch();
}

TEST_F(OuterRunTest, ARunThatIsGoneIsWarnedOfAndTheTrainingIsOnItsOwn) {
  const Environment gone{{{"ZEUS_PROGRESS", "/proc/4194305/fd/3"}}};
  EXPECT_EQ(OuterRun::find(gone, training_.clock()), nullptr);
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("cannot be reached"), std::string::npos);
  EXPECT_EQ(OuterRun::find(Environment{}, training_.clock()), nullptr);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(OuterRunTest, ReadsTheRunsChoicesAndIgnoresInvalidOnes) {
  const RunValues values = run_values_of(Environment{{{"ZEUS_BATCH_SIZE", "32"},
                                                      {"ZEUS_LEARNING_RATE", "0.05"},
                                                      {"ZEUS_SEED", "0"},
                                                      {"ZEUS_EPOCHS", "0"},
                                                      {"ZEUS_TARGET_METRIC", "much"},
                                                      {"ZEUS_HIGHER_IS_BETTER", "false"}}});
  EXPECT_EQ(values.batch_size, 32U);
  EXPECT_EQ(values.learning_rate, 0.05);
  EXPECT_EQ(values.seed, 0U);
  EXPECT_EQ(values.epochs, std::nullopt);
  EXPECT_EQ(values.target_metric, std::nullopt);
  EXPECT_EQ(values.higher_is_better, false);
}

TEST_F(OuterRunTest, OnlyOpenOptionsAreTakenFromTheRun) {
  const TrainingOptions open = outer(chosen_values)->complete({});
  EXPECT_EQ(open.batch_size, 64U);
  EXPECT_EQ(open.stopping.max_epochs, 3U);
  ASSERT_TRUE(open.stopping.target);
  EXPECT_EQ(open.stopping.target->metric, 0.5);
  EXPECT_FALSE(open.stopping.target->higher_is_better);
  TrainingOptions own;
  own.batch_size = 8;
  own.stopping.max_epochs = 10;
  own.stopping.target = {.metric = 0.9, .higher_is_better = true};
  const TrainingOptions kept = outer(chosen_values)->complete(own);
  EXPECT_EQ(kept.batch_size, 8U);
  EXPECT_EQ(kept.stopping.max_epochs, 10U);
  EXPECT_EQ(kept.stopping.target->metric, 0.9);
  RunValues no_direction = chosen_values;
  no_direction.higher_is_better.reset();
  EXPECT_FALSE(outer(no_direction)->complete({}).stopping.target);
}

TEST_F(OuterRunTest, ASessionReportsStepsMetricsAndEpochsAndLeavesTheGpusAlone) {
  Session session{parts(chosen_values), options_};
  std::uint64_t epochs = 0;
  while (session.next_epoch()) {
    for (int step = 0; step < 30; ++step) {
      session.begin_step();
      training_.step();
    }
    session.end_steps();
    session.report(++epochs == 2 ? 0.5 : 0.75);
  }
  session.finish();
  EXPECT_EQ(told_in_sums(), "30 steps, metric 0.75, epoch, 30 steps, metric 0.5, epoch, ");
  EXPECT_EQ(session.result().stopped_by, StopReason::target_reached);
  EXPECT_EQ(session.result().unoptimized, "`zeus run` sets the power limits of this training");
  EXPECT_TRUE(training_.calls().empty());
  EXPECT_TRUE(said_.empty()) << said_.front();
  EXPECT_TRUE(session.result().energy);
}

TEST_F(OuterRunTest, AMetricAfterTheEndOfAnEpochIsReportedBeforeIt) {
  Session session{parts(), options_};
  session.begin_epoch();
  session.begin_step();
  training_.step();
  session.end_epoch();
  session.report(0.25);
  session.begin_epoch();
  session.progress(3);
  session.end_epoch();
  session.report(std::numeric_limits<double>::quiet_NaN());
  session.finish();
  EXPECT_EQ(told_in_sums(), "1 steps, metric 0.25, epoch, 3 steps, metric nan, epoch, ");
}

TEST_F(OuterRunTest, ATargetMayBecomeKnownWithTheFirstMetric) {
  options_.stopping.target = {.metric = 0.9, .higher_is_better = true};
  Session session{training_.parts(), options_};
  ASSERT_TRUE(session.next_epoch());
  session.set_target({.metric = 0.2, .higher_is_better = false});
  session.report(0.95);
  ASSERT_TRUE(session.next_epoch());
  session.set_target({.metric = 0.2, .higher_is_better = false});
  session.report(0.1);
  session.report(0.3);
  EXPECT_FALSE(session.next_epoch());
  EXPECT_TRUE(session.result().reached());
  EXPECT_THROW(session.set_target({.metric = std::numeric_limits<double>::infinity()}), Error);
}

}  // namespace
}  // namespace zeus::train
