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

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace zeus::run {
namespace {

struct NoGuardian final : control::Guardian {
  void watch() override {}
  void notice() noexcept override {}
};

// Prints a metric every ten seconds: 0.5, then 0.95.
class ImprovingCommand final : public Command {
 public:
  explicit ImprovingCommand(Clock& clock) : clock_{clock} {}

  std::vector<Progress> wait(Seconds /*patience*/) override {
    clock_.sleep_until(clock_.now() + Seconds{10});
    return {MetricSeen{.value = std::exchange(next_, 0.95)}};
  }
  [[nodiscard]] std::optional<int> exit_code() const override { return std::nullopt; }
  void end() override {}
  [[nodiscard]] bool told_to_end() const override { return false; }
  [[nodiscard]] bool interrupted() override { return false; }
  [[nodiscard]] int times_stopped() const override { return 0; }
  [[nodiscard]] Seen seen() const override { return {}; }
  [[nodiscard]] bool in_the_middle_of_a_line() const override { return false; }

 private:
  Clock& clock_;
  double next_ = 0.5;
};

TEST(CommandTry, IsChargedUpToItsTargetHoweverLongDecidingTakes) {
  test::SteppedClock clock;
  const test::TemporaryFolder folder;
  const auto gpu = std::make_shared<backends::virtual_gpu::VirtualGpu>(
      std::make_shared<backends::virtual_gpu::Host>(clock), physics::preset("V100"), 0);
  gpu->set_load(physics::Load::constant(physics::Demand::of_power(200_W)));
  const auto source = std::make_shared<measure::SamplerSource>(measure::Sampler::Devices{.gpus = {gpu}, .cpus = {}},
                                                               clock, measure::Sampler::Polled::by_caller);
  clock.employ([&source] { return source->sampler()->poll(); });
  TrainingGpus gpus{TrainingGpus::Parts{
      .gpus = {gpu},
      .monitor = std::make_shared<Monitor>(std::make_unique<measure::Windows>(source, MonitorOptions{})),
      .open_book =
          [&] {
            return control::LeaseBook{control::Ledger{FileTree{folder.path()}, FileTree{folder.path()}},
                                      {{.gpu = gpu, .control = gpu}},
                                      std::make_shared<NoGuardian>(),
                                      clock};
          },
      .clock = clock}};
  RunOptions options;
  options.command = {"train"};
  options.job = "job";
  options.patterns.metric = "accuracy ([0-9.]+)";
  options.target = records::JobTarget{.metric = 0.9};
  const Environment environment{Environment::Variables{}};
  const Place place{.clock = clock, .environment = environment, .machine = FileTree{}, .backends = {}, .beside = {}};
  CommandTry training{checked(options), place, gpus, false,
                      [&](const Command::Plan&) { return std::make_unique<ImprovingCommand>(clock); }};

  training.start(0, 1);
  (void)training.go_on();
  (void)training.go_on();
  clock.sleep_until(clock.now() + Seconds{7});
  const jobs::Try::Taken taken = training.close();
  clock.sleep_until(clock.now() + Seconds{3});

  EXPECT_NEAR(taken.time.value(), 20.0, 0.1);
  EXPECT_NEAR(taken.energy().value(), 4000.0, 20.0);
  EXPECT_NEAR(training.taken_since_closed()->time.value(), 10.0, 0.1);
  clock.employ({});
}

}  // namespace
}  // namespace zeus::run
