#include "run/command_try.hpp"

#include "backends/virtual/virtual_gpu.hpp"
#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "tests/support/stepped_clock.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::run {
namespace {

struct NoGuardian final : control::Guardian {
  void watch() override {}
  void notice() noexcept override {}
};

// Never ends, and reports the result of `tell` each time that it is waited for.
class EndlessCommand final : public Command {
 public:
  explicit EndlessCommand(std::function<std::vector<Progress>()> tell) : tell_{std::move(tell)} {}

  std::vector<Progress> wait(Seconds /*patience*/) override { return tell_(); }
  [[nodiscard]] std::optional<int> exit_code() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::string> why_not_run() const override { return std::nullopt; }
  void end() override {}
  [[nodiscard]] bool told_to_end() const override { return false; }
  [[nodiscard]] std::optional<int> asked_to_end() override { return std::nullopt; }
  [[nodiscard]] int times_stopped() const override { return 0; }
  [[nodiscard]] Seen seen() const override { return {}; }
  [[nodiscard]] bool in_the_middle_of_a_line() const override { return false; }

 private:
  std::function<std::vector<Progress>()> tell_;
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
  ~CommandTryTest() override { clock_.employ({}); }

  void draw(Watts power) { gpu_->set_load(physics::Load::constant(physics::Demand::of_power(power))); }
  void pass(Seconds time) { clock_.sleep_until(clock_.now() + time); }
  // Of a command that reports this.
  CommandTry training(bool sets_limits, const std::function<std::vector<Progress>()>& tell) {
    return {checked(options_), place_, gpus_, sets_limits,
            [tell](const Command::Plan&) { return std::make_unique<EndlessCommand>(tell); }};
  }

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
  CommandTry training = this->training(false, [&]() -> std::vector<Progress> {
    pass(10_s);
    return {MetricSeen{.value = std::exchange(metric, 0.95)}};
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

// The load is below all limits, so that they cost the same. In another training an epoch took 100 s and 200 W under the
// highest limit; in this one steps of a tenth of a second and 80 W make epochs of 30 s.
TEST_F(CommandTryTest, TellsLimitsRelativeToOneThatIsKnownFromAnotherTraining) {
  draw(80_W);
  constexpr int steps_of_an_epoch = 300;
  int steps = 0;
  CommandTry training = this->training(true, [&]() -> std::vector<Progress> {
    pass(0.1_s);
    if (++steps % steps_of_an_epoch == 0) {
      return {StepsDone{}, EpochsDone{}};
    }
    return {StepsDone{}};
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
  CommandTry training = this->training(true, [&]() -> std::vector<Progress> {
    pass(Seconds{0.1 / gpu_->operating_point().speed});
    if (++steps % steps_of_an_epoch == 0) {
      const Seconds trained = Seconds{0.1 * steps_of_an_epoch / gpu_->operating_point().speed};
      pass(0.5 * trained);
      return {EpochsDone{}};
    }
    return {StepsDone{}};
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

}  // namespace
}  // namespace zeus::run
