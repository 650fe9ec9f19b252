#include "tests/run/truth_player.hpp"

#include "backends/virtual/virtual_gpu.hpp"
#include "jobs/driver.hpp"
#include "jobs/job.hpp"
#include "measure/windows.hpp"
#include "run/command_try.hpp"
#include "run/run_options.hpp"
#include "run/run_texts.hpp"
#include "run/training_gpus.hpp"
#include "store/open_store.hpp"
#include "tests/run/scripted_command.hpp"
#include "tests/run/scripted_loop.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/virtual_machine.hpp"

#include <zeus/error.hpp>
#include <zeus/job.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>

namespace zeus::truth {

namespace {

constexpr Seconds between_recurrences{30};

// As `zeus run` would be called.
run::RunOptions options_of(const Script& script) {
  run::RunOptions options;
  options.command = {"train"};
  options.job = "script";
  options.eta = script.eta;
  options.patterns = expressions_of(script);
  if (script.has_target) {
    options.target = records::JobTarget{.metric = 0.9};
  }
  if (script.chooses_batch_size) {
    options.command = {"train", "{batch_size}"};
    for (const Arm& arm : script.arms) {
      options.batch_sizes.push_back(arm.batch_size);
    }
    options.default_batch_size = script.arms[script.usual].batch_size;
  }
  return run::checked(options);
}

std::vector<Watts> limits_of(const TrainingResult& result) {
  std::vector<Watts> limits;
  for (const PowerMeasurement& one : result.profile.measurements) {
    limits.push_back(one.setting.limit);
  }
  return limits;
}

// From the law, for the steps during which limits were compared; those in which none was measured are like the others.
double runs_to_regain(const Script& script, const Arm& steps, const TrainingResult& result, Joules highest,
                      Joules chosen) {
  Joules beyond;
  double measured = 0.0;
  for (const PowerMeasurement& one : result.profile.measurements) {
    beyond += (of_epoch(script, steps, one.setting.limit).energy - chosen) * static_cast<double>(one.steps);
    measured += static_cast<double>(one.steps);
  }
  const Arm& arm = script.arms[script.usual];
  const double in_epoch =
      result.profile.measurements.front().step_time < 0.5 * (arm.step * static_cast<double>(arm.steps)) ? arm.steps
                                                                                                        : 1.0;
  const double comparing = static_cast<double>(result.profiling_steps) / (arm.epochs * in_epoch);
  return comparing * (beyond / measured) / (highest - chosen);
}

class Player {
 public:
  Player(const Script& script, Front front) : script_{script}, options_{options_of(script)}, front_{front} {}

  // What the last training's messages advise for measuring its limits.
  [[nodiscard]] const std::optional<std::string>& advice() const { return advice_; }
  void draw_from(std::uint64_t draws) { draws_ = Random{script_.seed, draws}; }

  // As `zeus run` without a job.
  PlayedAlone play_alone() {
    options_.job.clear();
    now_ = script_;
    witness_.begin(now_);
    machine_.begin_process();
    run::TrainingGpus gpus = this->gpus();
    run::CommandTry training{options_, place_, gpus, true,
                             [this](const run::Command::Plan& plan) { return launch(plan); }};
    training.trial().start(0, 1);
    training.optimize();
    while (!training.command().exit_code()) {
      training.trial().go_on();
    }
    training.trial().leave();
    const TrainingResult result = training.optimized().value_or(TrainingResult{});
    machine_.end_process();
    return judged_alone(script_, result);
  }
  void look_for_steps(const std::string& expression) { options_.patterns.step = expression; }

  Played play() {
    Played played{.script = script_, .told = {}, .failure = {}};
    try {
      for (int number = 0; number < script_.recurrences; ++number) {
        now_ = at_recurrence(script_, number);
        recur();
        played.told.push_back(witness_.tell(jobs::Job::find(*store_, site_, options_.job)->view()));
        clock_.sleep_until(clock_.now() + between_recurrences);
      }
    } catch (const Error& error) {
      played.failure = error.what();
    }
    played.profiled = witness_.is_profiled();
    return played;
  }

 private:
  run::TrainingGpus gpus() {
    return run::TrainingGpus{run::TrainingGpus::Parts{
        .gpus = machine_.gpus(),
        .monitor = std::make_shared<Monitor>(measure::monitor_of(machine_.sampler(), MonitorOptions{})),
        .open_book = [this] { return machine_.open_book(); },
        .clock = clock_}};
  }

  // Like a separate process: its monitor, its sampler, its leases.
  void recur() {
    machine_.begin_process();
    witness_.begin(now_);
    front_ == Front::command ? recur_as_command() : recur_as_loop();
    machine_.end_process();
  }

  void recur_as_command() {
    run::TrainingGpus gpus = this->gpus();
    const records::JobDevice device = gpus.device({}, true);
    run::CommandTry training{options_, place_, gpus, true,
                             [this](const run::Command::Plan& plan) { return launch(plan); }};
    jobs::Job job = jobs::Job::open(*store_, site_, options_.job, run::definition_of(options_, device));
    jobs::Driver driver{std::make_unique<jobs::KeptRecurrence>(job, job.begin(device)),
                        device,
                        training.trial(),
                        {.sets_limits = true, .stops_at_target = options_.stop_at_target},
                        clock_,
                        [](const jobs::DriverEvent&) {},
                        [](const Error&) { throw; }};
    driver.run();
    training.trial().leave();
    const std::optional<run::Unmeasured> unmeasured = training.unmeasured();
    advice_ = unmeasured ? run::unmeasured_text(*unmeasured) : std::nullopt;
  }

  void recur_as_loop() {
    JobDefinition definition;
    definition.batch_sizes = options_.batch_sizes;
    definition.default_batch_size = options_.default_batch_size;
    definition.eta = options_.eta;
    if (options_.target) {
      definition.target = TrainingTarget{.metric = options_.target->metric};
    }
    JobOptions options;
    options.store = file_;
    Job job{options_.job, definition, options};
    while (std::optional<Try> attempt = job.next_try()) {
      train_in_loop(*attempt, now_, arm_of(attempt->batch_size()), machine_, draws_,
                    [this](const Took& took) { witness_.hear(took); });
    }
  }

  [[nodiscard]] std::size_t arm_of(int batch_size) const {
    const auto found = std::ranges::find(now_.arms, batch_size, &Arm::batch_size);
    return now_.chooses_batch_size ? static_cast<std::size_t>(found - now_.arms.begin()) : now_.usual;
  }

  std::unique_ptr<run::Command> launch(const run::Command::Plan& plan) {
    const std::size_t arm = arm_of(plan.command.size() > 1 ? std::stoi(plan.command.at(1)) : 0);
    return std::make_unique<ScriptedCommand>(now_, arm, plan.patterns, machine_.gpu(), clock_, draws_,
                                             [this](const Took& took) { witness_.hear(took); });
  }

  Script script_;
  Script now_;
  run::RunOptions options_;
  Random draws_{script_.seed, 1};
  Front front_;
  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "jobs.sqlite";  // of a loop; a command's job is in memory
  test::VirtualMachine machine_{{script_.gpu}};
  test::SteppedClock& clock_ = machine_.clock();
  Environment environment_{Environment::Variables{}};
  run::Place place_{.clock = clock_, .environment = environment_, .machine = FileTree{}, .backends = {}, .beside = {}};
  std::unique_ptr<store::JobStore> store_ = front_ == Front::command
                                                ? std::make_unique<test::MemoryStore>()
                                                : store::open_store(file_.string(), store::Access::create, clock_);
  jobs::Site site_ = jobs::this_site(clock_, FileTree{});
  Witness witness_{script_};
  std::optional<std::string> advice_;
};

// Like a user who follows the advice of the messages.
bool is_profiled_by(const std::string& advice, Script script) {
  std::string expression;
  if (std::smatch found; std::regex_search(advice, found, std::regex{"give --step-regex '(.*)'"})) {
    expression = found[1];
  } else if (advice.find("print a line for each step") != std::string::npos) {
    script.dialect = Dialect::plain_from_1;
    expression = R"(step (\d+))";
  } else if (advice.find("the next one goes on") != std::string::npos) {
    script.recurrences *= 2;
  } else {
    return false;
  }
  Player player{script, Front::command};
  if (!expression.empty()) {
    player.look_for_steps(expression);
  }
  return player.play().profiled;
}

}  // namespace

double error_of_law(Script script) {
  script.step_scatter = 0.0;
  Random draws{script.seed, 2};
  double worst = 0.0;
  for (std::size_t arm = 0; arm < script.arms.size(); ++arm) {
    test::SteppedClock clock;
    backends::virtual_gpu::VirtualGpu gpu{std::make_shared<backends::virtual_gpu::Host>(clock), script.gpu, 0};
    const Watts limit = script.gpu.limits.min + (script.gpu.limits.max - script.gpu.limits.min) * draws.uniform();
    (void)gpu.set_power_limit(limit).or_throw("the virtual limit");
    Took took;
    ScriptedCommand command{script, arm, {}, gpu, clock, draws, [&](const Took& one) { took = one; }};
    while (!command.exit_code()) {
      (void)command.wait(Seconds{3600});
    }
    const Cost law = of_run(script, script.arms[arm], limit, took.epochs);
    worst = std::max({worst, std::abs(took.cost.energy / law.energy - 1.0), std::abs(took.cost.time / law.time - 1.0)});
  }
  return worst;
}

Played play(const Script& script, Front front) {
  Player player{script, front};
  Played played = player.play();
  if (!played.profiled && played.failure.empty() && player.advice()) {
    played.profiled_by_advice = is_profiled_by(*player.advice(), script);
  }
  return played;
}

PlayedAlone play_alone(const Script& script, std::uint64_t draws) {
  Player player{script, Front::command};
  player.draw_from(draws);
  return player.play_alone();
}

PlayedAlone judged_alone(const Script& script, const TrainingResult& result) {
  PlayedAlone played{
      .script = script, .unoptimized = result.applied ? "" : result.unoptimized, .stated = run::limit_change(result)};
  if (!result.applied) {
    return played;
  }
  // Where epochs were measured instead of steps, these contain evaluation.
  Arm steps = script.arms[script.usual];
  const Seconds epoch = steps.step * static_cast<double>(steps.steps);
  if (result.profile.measurements.front().step_time < 0.5 * epoch) {
    steps.evaluation = Seconds{};
  }
  played.regret = excess_of_limit(script, steps, result.optimum->limit, limits_of(result));
  if (played.stated) {
    const Cost chosen = of_epoch(script, steps, played.stated->setting.limit);
    const Cost highest = of_epoch(script, steps, played.stated->highest);
    played.energy = chosen.energy / highest.energy - 1.0;
    played.time = chosen.time / highest.time - 1.0;
    played.runs_to_regain = runs_to_regain(script, steps, result, highest.energy, chosen.energy);
  }
  return played;
}

}  // namespace zeus::truth
