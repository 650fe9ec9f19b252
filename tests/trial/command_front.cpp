#include "jobs/driver.hpp"
#include "jobs/stored_keeper.hpp"
#include "measure/windows.hpp"
#include "run/command_try.hpp"
#include "run/job_keeper.hpp"
#include "run/training_gpus.hpp"
#include "tests/trial/fronts.hpp"
#include "train/live_parts.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::test {

namespace {

// A command that is a played training. Its process is another one than that of `zeus run`.
class PlayedCommand final : public run::Command {
 public:
  PlayedCommand(Stage& stage, int batch_size) : stage_{stage}, training_{stage, batch_size} {}

  std::vector<trial::Progress> wait(Seconds patience) override {
    if (code_) {
      return {};
    }
    if (step_ == training_.steps()) {
      step_ = 0;
      ++epochs_;
      const double metric = training_.evaluate();
      if (!stage_.situation.has_target && epochs_ == stage_.situation.max_epochs) {
        exit(0);
      }
      return {trial::MetricSeen{.value = metric}, trial::EpochsDone{}};
    }
    switch (training_.due()) {
      case Mishap::suspended:
        stood_still_ += suspended_for;
        break;
      case Mishap::fails:
        exit(1);
        return {};
      case Mishap::stopped:
        asked_ = SIGINT;
        exit(128 + SIGINT);
        return {};
      default:
        break;
    }
    training_.step();
    ++step_;
    (void)patience;
    return stage_.situation.shows_steps ? std::vector<trial::Progress>{trial::StepsDone{}}
                                        : std::vector<trial::Progress>{};
  }
  [[nodiscard]] std::optional<int> exit_code() const override { return code_; }
  [[nodiscard]] std::optional<std::string> why_not_run() const override { return std::nullopt; }
  void end() override {
    told_to_end_ = true;
    if (!code_) {
      exit(128 + SIGTERM);
    }
  }
  [[nodiscard]] bool told_to_end() const override { return told_to_end_; }
  [[nodiscard]] std::optional<int> asked_to_end() override { return asked_; }
  [[nodiscard]] Seconds stood_still() const override { return stood_still_; }
  [[nodiscard]] Seen seen() const override { return {}; }
  void between_its_output(const std::function<void(bool mid_line)>& write) override { write(false); }

 private:
  void exit(int code) {
    code_ = code;
    training_.end();
  }

  Stage& stage_;
  PlayedTraining training_;
  int step_ = 0;
  int epochs_ = 0;
  Seconds stood_still_;
  bool told_to_end_ = false;
  std::optional<int> code_;
  std::optional<int> asked_;
};

// As `zeus run` would be called.
run::RunOptions options_of(const Situation& situation) {
  run::RunOptions options;
  options.command = {"train"};
  options.job = "job";
  options.eta = eta;
  options.beta = situation.beta;
  options.policy = situation.policy;
  options.window = situation.window;
  options.seed = situation.seed;
  options.max_epochs = situation.max_epochs;
  options.power_limits = situation.limits;
  options.profile_time = situation.profile_time;
  options.set_limits = situation.sets_limits;
  options.stop_at_target = true;
  if (situation.has_target) {
    options.target = records::JobTarget{.metric = target_metric};
    options.patterns.metric = "accuracy ([0-9.]+)";
  }
  if (situation.has_batch_sizes()) {
    options.command.emplace_back("{batch_size}");
    for (const Work& work : situation.works) {
      options.batch_sizes.push_back(work.batch_size);
    }
    options.default_batch_size = situation.works.front().batch_size;
  }
  return run::checked(options);
}

}  // namespace

void recur_as_command(Stage& stage) {
  const Environment environment{Environment::Variables{}};
  VirtualMachine& machine = stage.machine;
  Clock& clock = machine.clock();
  const run::Place place{
      .clock = clock, .environment = environment, .machine = FileTree{}, .backends = {}, .beside = {}};
  run::RunOptions options = options_of(stage.situation);
  options.store = stage.store.string();
  run::TrainingGpus gpus{run::TrainingGpus::Parts{
      .gpus = machine.gpus(),
      .monitor = std::make_shared<Monitor>(measure::monitor_of(machine.sampler(), MonitorOptions{})),
      .open_book = [&machine] { return machine.open_book(); },
      .clock = clock,
      .allowed = train::allowed_limits_of(machine.lessor())}};
  const bool sets_limits = options.set_limits && !gpus.why_not_settable(options.power_limits);
  const records::JobDevice device = gpus.device(options.power_limits, sets_limits);
  run::CommandTry training{options, place, gpus, sets_limits, [&](const run::Command::Plan& plan) {
                             const int batch_size = plan.command.size() > 1 ? std::stoi(plan.command.at(1))
                                                                            : stage.situation.works[0].batch_size;
                             return std::make_unique<PlayedCommand>(stage, batch_size);
                           }};
  const auto keeper = run::job_keeper(
      options, gpus, place, [] { return false; }, [](const std::string&) {});
  jobs::Driver driver{run::begin(*keeper, options, device),
                      device,
                      training.trial(),
                      {.sets_limits = sets_limits, .stops_at_target = true},
                      clock,
                      [](const jobs::DriverEvent&) {},
                      [](const Error&) { throw; }};
  driver.run();
}

}  // namespace zeus::test
