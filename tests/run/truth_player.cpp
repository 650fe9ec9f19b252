#include "tests/run/truth_player.hpp"

#include "backends/virtual/virtual_gpu.hpp"
#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "jobs/driver.hpp"
#include "jobs/job.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "run/command_try.hpp"
#include "run/run_options.hpp"
#include "run/run_texts.hpp"
#include "run/training_gpus.hpp"
#include "tests/run/scripted_command.hpp"
#include "tests/support/memory_store.hpp"

#include <zeus/error.hpp>

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

struct NoGuardian final : control::Guardian {
  void watch(const std::string& /*gpu*/) override {}
  void notice() noexcept override {}
};

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

class Player {
 public:
  Player(const Script& script, const test::TemporaryFolder& folder)
      : script_{script}, folder_{folder}, options_{options_of(script)} {
    FileTree{folder_.path() / "machine"}.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
    std::filesystem::create_directories(folder_.path() / "state");
  }

  // What the last training's messages advise for measuring its limits.
  [[nodiscard]] const std::optional<std::string>& advice() const { return advice_; }
  void draw_from(std::uint64_t draws) { draws_ = Random{script_.seed, draws}; }

  // As `zeus run` without a job.
  PlayedAlone play_alone() {
    options_.job.clear();
    now_ = script_;
    witness_.begin(now_);
    const auto source = sampler();
    run::TrainingGpus gpus = gpus_of(source);
    run::CommandTry training{options_, place_, gpus, true,
                             [this](const run::Command::Plan& plan) { return launch(plan); }};
    training.trial().start(0, 1);
    training.optimize();
    while (!training.command().exit_code()) {
      training.trial().go_on();
    }
    training.trial().leave();
    const TrainingResult result = training.optimized().value_or(TrainingResult{});
    clock_.employ({});
    PlayedAlone played{.script = script_, .unoptimized = result.unoptimized, .stated = run::limit_change(result)};
    if (played.stated) {
      // Where epochs were measured instead of steps, these contain evaluation.
      Arm steps = script_.arms[script_.usual];
      const Seconds epoch = steps.step * static_cast<double>(steps.steps);
      if (result.profile.measurements.front().step_time < 0.5 * epoch) {
        steps.evaluation = Seconds{};
      }
      const Cost chosen = of_epoch(script_, steps, played.stated->setting.limit);
      const Cost highest = of_epoch(script_, steps, played.stated->highest);
      played.energy = chosen.energy / highest.energy - 1.0;
      played.time = chosen.time / highest.time - 1.0;
    }
    return played;
  }
  void look_for_steps(const std::string& expression) { options_.patterns.step = expression; }

  Played play() {
    Played played{.script = script_, .told = {}, .failure = {}};
    try {
      for (int number = 0; number < script_.recurrences; ++number) {
        now_ = at_recurrence(script_, number);
        recur();
        played.told.push_back(witness_.tell(job_->view()));
        clock_.sleep_until(clock_.now() + between_recurrences);
      }
    } catch (const Error& error) {
      played.failure = error.what();
    }
    played.profiled = witness_.is_profiled();
    return played;
  }

 private:
  std::shared_ptr<measure::SamplerSource> sampler() {
    auto source = std::make_shared<measure::SamplerSource>(measure::Sampler::Devices{.gpus = {gpu_}, .cpus = {}},
                                                           clock_, measure::Sampler::Polled::by_caller);
    clock_.employ([source] { return source->sampler()->poll(); });
    return source;
  }

  run::TrainingGpus gpus_of(const std::shared_ptr<measure::SamplerSource>& source) {
    return run::TrainingGpus{run::TrainingGpus::Parts{
        .gpus = {gpu_},
        .monitor = std::make_shared<Monitor>(measure::monitor_of(source, MonitorOptions{})),
        .open_book =
            [this] {
              return control::LeaseBook{
                  control::Ledger{FileTree{folder_.path() / "state"}, FileTree{folder_.path() / "machine"}},
                  {{.gpu = gpu_, .control = gpu_}},
                  std::make_shared<NoGuardian>(),
                  clock_};
            },
        .clock = clock_}};
  }

  // Like a separate process: its monitor, its sampler, its leases.
  void recur() {
    const auto source = sampler();
    run::TrainingGpus gpus = gpus_of(source);
    device_ = gpus.device({}, true);
    run::CommandTry training{options_, place_, gpus, true,
                             [this](const run::Command::Plan& plan) { return launch(plan); }};
    if (!job_) {
      job_.emplace(jobs::Job::open(store_, site_, options_.job, run::definition_of(options_, device_)));
    }
    witness_.begin(now_);
    jobs::Driver driver{std::make_unique<jobs::KeptRecurrence>(*job_, job_->begin(device_)),
                        device_,
                        training.trial(),
                        {.sets_limits = true, .stops_at_target = options_.stop_at_target},
                        clock_,
                        [](const jobs::DriverEvent&) {},
                        [](const Error&) { throw; }};
    driver.run();
    training.trial().leave();
    const std::optional<run::Unmeasured> unmeasured = training.unmeasured();
    advice_ = unmeasured ? run::unmeasured_text(*unmeasured) : std::nullopt;
    clock_.employ({});
  }

  std::unique_ptr<run::Command> launch(const run::Command::Plan& plan) {
    std::size_t arm = now_.usual;
    if (now_.chooses_batch_size) {
      const int batch_size = std::stoi(plan.command.at(1));
      arm = static_cast<std::size_t>(std::ranges::find(now_.arms, batch_size, &Arm::batch_size) - now_.arms.begin());
    }
    return std::make_unique<ScriptedCommand>(now_, arm, plan.patterns, *gpu_, clock_, draws_,
                                             [this](const Took& took) { witness_.hear(took); });
  }

  Script script_;
  Script now_;
  const test::TemporaryFolder& folder_;
  run::RunOptions options_;
  Random draws_{script_.seed, 1};
  test::SteppedClock clock_;
  std::shared_ptr<backends::virtual_gpu::VirtualGpu> gpu_ = std::make_shared<backends::virtual_gpu::VirtualGpu>(
      std::make_shared<backends::virtual_gpu::Host>(clock_), script_.gpu, 0);
  Environment environment_{Environment::Variables{}};
  run::Place place_{.clock = clock_, .environment = environment_, .machine = FileTree{}, .backends = {}, .beside = {}};
  test::MemoryStore store_;
  jobs::Site site_ = jobs::this_site(clock_, FileTree{});
  records::JobDevice device_;
  std::optional<jobs::Job> job_;
  Witness witness_{script_};
  std::optional<std::string> advice_;
};

// Like a user who follows the advice of the messages.
bool is_profiled_by(const std::string& advice, Script script, const test::TemporaryFolder& folder) {
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
  Player player{script, folder};
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

Played play(const Script& script, const test::TemporaryFolder& folder) {
  Player player{script, folder};
  Played played = player.play();
  if (!played.profiled && played.failure.empty() && player.advice()) {
    played.profiled_by_advice = is_profiled_by(*player.advice(), script, folder);
  }
  return played;
}

PlayedAlone play_alone(const Script& script, std::uint64_t draws, const test::TemporaryFolder& folder) {
  Player player{script, folder};
  player.draw_from(draws);
  return player.play_alone();
}

}  // namespace zeus::truth
