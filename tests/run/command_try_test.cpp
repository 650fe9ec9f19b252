#include "run/command_try.hpp"

#include "backends/virtual/virtual_gpu.hpp"
#include "base/random.hpp"
#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "run/heard_progress.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "tests/support/stepped_clock.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zeus::run {
namespace {

struct NoGuardian final : control::Guardian {
  void watch(const std::string& /*gpu*/) override {}
  void notice() noexcept override {}
};

// Never ends, and reports the result of `tell` each time that it is waited for.
class EndlessCommand final : public Command {
 public:
  EndlessCommand(std::function<std::vector<trial::Progress>()> tell, const Seconds& stood_still)
      : tell_{std::move(tell)}, stood_still_{stood_still} {}

  std::vector<trial::Progress> wait(Seconds /*patience*/) override { return tell_(); }
  [[nodiscard]] std::optional<int> exit_code() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::string> why_not_run() const override { return std::nullopt; }
  void end() override {}
  [[nodiscard]] bool told_to_end() const override { return false; }
  [[nodiscard]] std::optional<int> asked_to_end() override { return std::nullopt; }
  [[nodiscard]] Seconds stood_still() const override { return stood_still_; }
  [[nodiscard]] Seen seen() const override { return {}; }
  void between_its_output(const std::function<void(bool mid_line)>& write) override { write(false); }

 private:
  std::function<std::vector<trial::Progress>()> tell_;
  const Seconds& stood_still_;
};

class CommandTryTest : public testing::Test {
 protected:
  CommandTryTest() {
    clock_.employ([this] { return source_->sampler()->poll(); });
    FileTree{folder_.path()}.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
    options_.command = {"train"};
    options_.job = "job";
    options_.patterns.metric = "accuracy ([0-9.]+)";
  }
  void TearDown() override { clock_.employ({}); }

  void draw(Watts power) { gpu_->set_load(physics::Load::constant(physics::Demand::of_power(power))); }
  void pass(Seconds time) { clock_.sleep_until(clock_.now() + time); }
  // Of a command that reports this.
  CommandTry training(bool sets_limits, const std::function<std::vector<trial::Progress>()>& tell) {
    return {checked(options_), place_, gpus_, sets_limits,
            [this, tell](const Command::Plan&) { return std::make_unique<EndlessCommand>(tell, stood_still_); }};
  }

  Seconds stood_still_;  // of the command, until now
  test::SteppedClock clock_;
  test::TemporaryFolder folder_;
  std::shared_ptr<backends::virtual_gpu::VirtualGpu> gpu_ = std::make_shared<backends::virtual_gpu::VirtualGpu>(
      std::make_shared<backends::virtual_gpu::Host>(clock_), physics::preset("V100"), 0);
  std::shared_ptr<measure::SamplerSource> source_ = std::make_shared<measure::SamplerSource>(
      measure::Sampler::Devices{.gpus = {gpu_}, .cpus = {}}, clock_, measure::Sampler::Polled::by_caller);
  TrainingGpus gpus_{TrainingGpus::Parts{
      .gpus = {gpu_},
      .monitor = std::make_shared<Monitor>(measure::monitor_of(source_, MonitorOptions{})),
      .open_book =
          [this] {
            return control::LeaseBook{control::Ledger{FileTree{folder_.path()}, FileTree{folder_.path()}},
                                      {{.gpu = gpu_, .control = gpu_}},
                                      std::make_shared<NoGuardian>(),
                                      clock_};
          },
      .clock = clock_}};
  Environment environment_{Environment::Variables{}};
  Place place_{.clock = clock_, .environment = environment_, .machine = FileTree{}, .backends = {}, .beside = {}};
  RunOptions options_;
};

TEST_F(CommandTryTest, IsChargedUpToItsTargetHoweverLongDecidingTakes) {
  draw(200_W);
  options_.target = records::JobTarget{.metric = 0.9};
  double metric = 0.5;
  CommandTry training = this->training(false, [&]() -> std::vector<trial::Progress> {
    pass(10_s);
    return {trial::MetricSeen{.value = std::exchange(metric, 0.95)}};
  });

  training.trial().start(0, 1);
  (void)training.trial().go_on();
  (void)training.trial().go_on();
  pass(7_s);
  const jobs::Try::Taken taken = training.trial().close();
  pass(3_s);

  EXPECT_NEAR(taken.time.value(), 20.0, 0.1);
  EXPECT_NEAR(taken.energy().value(), 4000.0, 20.0);
  EXPECT_NEAR(training.taken_since_closed().time.value(), 10.0, 0.1);
}

TEST_F(CommandTryTest, ComparesLimitsToTheEndWhetherStepsTakeAMillisecondOrTenSeconds) {
  draw(240_W);
  options_.job.clear();
  for (const auto& [step, within] : {std::pair{0.001_s, 31_s}, std::pair{10_s, 10_s * 250}}) {
    CommandTry training = this->training(true, [&, step = step]() -> std::vector<trial::Progress> {
      const double steps = std::max(1.0, 0.005_s / step);
      pass(step * steps / gpu_->operating_point().speed);
      return {trial::StepsDone{.count = static_cast<std::uint64_t>(steps)}};
    });
    training.trial().start(0, 1);
    training.optimize();
    const Instant end = clock_.now() + within;
    while (clock_.now() < end && training.trial().state().measuring) {
      (void)training.trial().go_on();
    }
    training.trial().leave();
    const TrainingResult result = training.optimized().value();
    EXPECT_EQ(result.unoptimized, "") << step.value();
    EXPECT_TRUE(result.profile.complete) << step.value();
    EXPECT_GE(result.profile.measurements.size(), 3U) << step.value();
  }
}

TEST_F(CommandTryTest, AddsUpWhatComparingTookWhereItBeganAgain) {
  draw(240_W);
  options_.job.clear();
  CommandTry training = this->training(true, [&]() -> std::vector<trial::Progress> {
    pass(0.1_s);
    return {trial::StepsDone{}};
  });
  training.trial().start(0, 1);
  training.optimize();
  const auto compare_for = [&](Seconds time) {
    for (const Instant end = clock_.now() + time; clock_.now() < end;) {
      (void)training.trial().go_on();
    }
  };
  compare_for(2_s);
  stood_still_ = 1_s;  // which drops what was measured
  compare_for(2_s);
  ASSERT_TRUE(training.trial().state().measuring);
  training.trial().leave();
  EXPECT_NEAR(training.optimized().value().profiling_time.value(), 4.0, 0.5);
  EXPECT_NEAR(static_cast<double>(training.optimized().value().profiling_steps), 40.0, 5.0);
}

// The load is below all limits, so that they cost the same. In another training an epoch took 100 s and 200 W under the
// highest limit; in this one steps of a tenth of a second and 80 W make epochs of 30 s.
TEST_F(CommandTryTest, TellsLimitsRelativeToOneThatIsKnownFromAnotherTraining) {
  draw(80_W);
  constexpr int steps_of_an_epoch = 300;
  int steps = 0;
  CommandTry training = this->training(true, [&]() -> std::vector<trial::Progress> {
    pass(0.1_s);
    if (++steps % steps_of_an_epoch == 0) {
      return {trial::StepsDone{}, trial::EpochsDone{}};
    }
    return {trial::StepsDone{}};
  });
  const LimitProfile known{.limit = 250_W, .epoch_time = 100_s, .average_power = 200_W};

  training.trial().start(0, 1);
  training.trial().measure({100_W, 150_W}, {.run_time = {}, .reference = known});
  for (int i = 0; i < 2 * steps_of_an_epoch || training.trial().state().measuring; ++i) {
    ASSERT_LT(i, 100 * steps_of_an_epoch);
    (void)training.trial().go_on();
  }

  const std::vector<LimitProfile> measured = training.trial().measured();
  ASSERT_EQ(measured.size(), 2U) << "the known one is unchanged";
  for (const LimitProfile& one : measured) {
    EXPECT_LT(one.limit, known.limit);
    EXPECT_NEAR(one.epoch_time.value(), 100.0, 2.0);
    EXPECT_NEAR(one.average_power.value(), 200.0, 4.0);
  }
}

// Limits slow steps down in proportion to the clock; evaluation, a third of an epoch, is assumed to slow down half as
// much.
TEST_F(CommandTryTest, TakesEvaluationToBeAffectedHalfAsMuchAsSteps) {
  gpu_->set_load(physics::Load::constant(physics::Demand::of_work(1.0, 1.0, 0.0)));
  constexpr int steps_of_an_epoch = 300;
  int steps = 0;
  CommandTry training = this->training(true, [&]() -> std::vector<trial::Progress> {
    pass(Seconds{0.1 / gpu_->operating_point().speed});
    if (++steps % steps_of_an_epoch == 0) {
      const Seconds trained = Seconds{0.1 * steps_of_an_epoch / gpu_->operating_point().speed};
      pass(0.5 * trained);
      return {trial::EpochsDone{}};
    }
    return {trial::StepsDone{}};
  });

  training.trial().start(0, 1);
  training.trial().measure({150_W, 250_W}, {.run_time = {}, .reference = {}});
  for (int i = 0; i < 4 * steps_of_an_epoch; ++i) {
    (void)training.trial().go_on();
  }

  const std::vector<LimitProfile> measured = training.trial().measured();
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_NEAR(training.trial().state().beside_steps.value_or(0.0), 1.0 / 3.0, 0.01);
  const auto speed_under = [&](Watts limit) {
    (void)gpu_->set_power_limit(limit).or_throw("the virtual limit");
    pass(1_s);
    return gpu_->operating_point().speed;
  };
  const double slower = speed_under(250_W) / speed_under(150_W);
  EXPECT_GT(slower, 1.1);
  EXPECT_NEAR(measured.front().epoch_time / measured.back().epoch_time,
              (slower + 0.5 * 0.5 * (1.0 + slower)) / (1.0 + 0.5), 0.01);
  EXPECT_TRUE(measured.front().epoch_time_uncertainty && measured.front().average_power_uncertainty);
}

// A line of a training, and when it is printed.
struct Printed {
  Seconds at;
  std::size_t stream = 0;
  std::string bytes;
};

std::string bar(int done, int all) {
  return fmt::format("\r{:3}%|{:<10}| {}/{} [00:01<00:07,  3.14it/s]", 100 * done / all,
                     std::string(static_cast<std::size_t>(10 * done / all), '#'), done, all);
}

enum class Way { from_0, from_1, hundreds, over_all, without_number, every_fourth, every_fourth_over_all, tqdm };

// As tqdm draws it: at the beginning, at least a tenth of a second after the last time, and at the end.
void print_bars(std::vector<Printed>& lines, Seconds began, Seconds step, int steps) {
  lines.push_back({began, 1, bar(0, steps)});
  Seconds drawn = began;
  for (int done = 1; done <= steps; ++done) {
    const Seconds at = began + step * done;
    if (at - drawn >= 0.1_s || done == steps) {
      lines.push_back({at, 1, bar(done, steps)});
      drawn = at;
    }
  }
  lines.push_back({drawn, 1, "\n"});
}

void print_steps(std::vector<Printed>& lines, Way way, Seconds began, Seconds step, int steps, int epoch) {
  for (int i = 0; i < steps; ++i) {
    const int over_all = epoch * steps + i + 1;
    std::string line;
    switch (way) {
      case Way::from_0:
        line = fmt::format("step {}\n", i);
        break;
      case Way::from_1:
        line = fmt::format("step {}\n", i + 1);
        break;
      case Way::hundreds:
        line = fmt::format("step {}\n", 100 * (i + 1));
        break;
      case Way::over_all:
        line = fmt::format("step {}\n", over_all);
        break;
      case Way::without_number:
        line = "a step is done\n";
        break;
      case Way::every_fourth:
        line = (i + 1) % 4 == 0 ? fmt::format("step {}\n", i + 1) : "";
        break;
      case Way::every_fourth_over_all:
        line = over_all % 4 == 0 ? fmt::format("step {}\n", over_all) : "";
        break;
      case Way::tqdm:
        break;
    }
    if (!line.empty()) {
      lines.push_back({began + step * (i + 1), 0, line});
    }
  }
}

// `part` of each epoch is evaluation, at its end.
std::vector<Printed> printed(Way way, int steps, Seconds epoch, double part, int epochs) {
  constexpr Seconds start{1.7};
  std::vector<Printed> lines;
  for (int number = 0; number < epochs; ++number) {
    const Seconds began = start + epoch * number;
    const Seconds step = epoch * (1.0 - part) / steps;
    if (way == Way::tqdm) {
      print_bars(lines, began, step, steps);
    } else {
      print_steps(lines, way, began, step, steps, number);
    }
    lines.push_back({began + epoch, 0, fmt::format("epoch {} is over\n", number)});
  }
  return lines;
}

// The load is below all limits, so that an epoch takes the same under each. What is printed is read up to 8 ms late.
class WaysOfPrintingTest : public CommandTryTest, public testing::WithParamInterface<std::tuple<Way, int, double>> {
 protected:
  // The largest error of an epoch's time; empty if none is known by the end of the training.
  std::optional<double> error_for(Seconds epoch, double part, bool expression) {
    const auto [way, steps, unused] = GetParam();
    options_.patterns = {.metric = {}, .epoch = R"(^epoch (\d+))", .step = expression ? "a step is done" : ""};
    const std::vector<Printed> lines = printed(way, steps, epoch, part, 60);
    HeardProgress heard{checked(options_).patterns};
    const Instant began = clock_.now();
    std::size_t next = 0;
    CommandTry training = this->training(true, [&]() -> std::vector<trial::Progress> {
      while (!heard.any() && next < lines.size()) {
        const Seconds late = Seconds{0.008} * draws_.uniform();
        clock_.sleep_until(std::max(clock_.now(), began + lines[next].at + late));
        for (; next < lines.size() && began + lines[next].at <= clock_.now(); ++next) {
          heard.hear(lines[next].stream, lines[next].bytes);
        }
      }
      return heard.take();
    });
    training.trial().start(0, 1);
    training.trial().measure({100_W, 150_W, 250_W}, {.run_time = {}, .reference = {}});
    while (next < lines.size() && training.trial().state().measuring) {
      (void)training.trial().go_on();
    }
    std::optional<double> worst;
    for (const LimitProfile& one : training.trial().measured()) {
      worst = std::max(worst.value_or(0.0), std::abs(one.epoch_time / epoch - 1.0));
    }
    EXPECT_TRUE(worst || training.unmeasured()) << "an unknown time is said";
    return worst;
  }

  Random draws_{7};
};

TEST_P(WaysOfPrintingTest, AreAllUnderstoodWithoutAnyExpressionForSteps) {
  draw(80_W);
  const Seconds epoch{std::get<2>(GetParam())};
  const std::optional<double> error = error_for(epoch, 0.0, false);
  ASSERT_TRUE(error);
  EXPECT_LT(*error, 0.05);
}

TEST_P(WaysOfPrintingTest, LeaveEvaluationItsTime) {
  draw(80_W);
  const Seconds epoch{std::get<2>(GetParam())};
  const std::optional<double> error = error_for(epoch, 0.25, std::get<0>(GetParam()) == Way::without_number);
  ASSERT_TRUE(error);
  EXPECT_LT(*error, 0.05);
}

INSTANTIATE_TEST_SUITE_P(All, WaysOfPrintingTest,
                         testing::Combine(testing::Values(Way::from_0, Way::from_1, Way::hundreds, Way::over_all,
                                                          Way::without_number, Way::every_fourth,
                                                          Way::every_fourth_over_all, Way::tqdm),
                                          testing::Values(5, 20), testing::Values(0.4, 1.6, 6.0)));

}  // namespace
}  // namespace zeus::run
