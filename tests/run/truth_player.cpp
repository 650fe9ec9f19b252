#include "tests/run/truth_player.hpp"

#include "backends/virtual/virtual_gpu.hpp"
#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "jobs/driver.hpp"
#include "jobs/job.hpp"
#include "jobs/scatter.hpp"
#include "measure/sampler_source.hpp"
#include "measure/windows.hpp"
#include "run/command_try.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "tests/run/scripted_command.hpp"
#include "tests/support/memory_store.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

namespace zeus::truth {

namespace {

constexpr Seconds between_recurrences{30};

struct NoGuardian final : control::Guardian {
  void watch() override {}
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

  Played play() {
    Played played{.script = script_, .told = {}, .failure = {}};
    try {
      for (int number = 0; number < script_.recurrences; ++number) {
        now_ = at_recurrence(script_, number);
        recur();
        played.told.push_back(tell());
        clock_.sleep_until(clock_.now() + between_recurrences);
      }
    } catch (const Error& error) {
      played.failure = error.what();
    }
    played.profiled = profiled_;
    return played;
  }

 private:
  // As a process of its own: its monitor, its sampler, its leases.
  void recur() {
    const auto source = std::make_shared<measure::SamplerSource>(measure::Sampler::Devices{.gpus = {gpu_}, .cpus = {}},
                                                                 clock_, measure::Sampler::Polled::by_caller);
    clock_.employ([&source] { return source->sampler()->poll(); });
    run::TrainingGpus gpus{
        run::TrainingGpus::Parts{
            .gpus = {gpu_},
            .monitor = std::make_shared<Monitor>(std::make_unique<measure::Windows>(source, MonitorOptions{})),
            .open_book =
                [this] {
                  return control::LeaseBook{
                      control::Ledger{FileTree{folder_.path() / "state"}, FileTree{folder_.path() / "machine"}},
                      {{.gpu = gpu_, .control = gpu_}},
                      std::make_shared<NoGuardian>(),
                      clock_};
                },
            .clock = clock_}};
    device_ = gpus.device({}, true);
    run::CommandTry training{options_, place_, gpus, true,
                             [this](const run::Command::Plan& plan) { return launch(plan); }};
    if (!job_) {
      job_.emplace(jobs::Job::open(store_, site_, options_.job, run::definition_of(options_, device_)));
    }
    took_.emplace_back();
    jobs::Driver driver{*job_,
                        job_->begin(device_),
                        device_,
                        training,
                        {.sets_limits = true, .stops_at_target = options_.stop_at_target},
                        clock_,
                        [](const jobs::DriverEvent&) {},
                        [](const Error&) { throw; }};
    driver.run();
    training.leave();
    default_.push_back(expected_default(now_));
    clock_.employ({});
  }

  std::unique_ptr<run::Command> launch(const run::Command::Plan& plan) {
    std::size_t arm = now_.usual;
    if (now_.chooses_batch_size) {
      const int batch_size = std::stoi(plan.command.at(1));
      arm = static_cast<std::size_t>(std::ranges::find(now_.arms, batch_size, &Arm::batch_size) - now_.arms.begin());
    }
    return std::make_unique<ScriptedCommand>(now_, arm, plan.patterns, *gpu_, clock_, draws_,
                                             [this](const ScriptedCommand::Took& took) {
                                               took_.back() = took_.back() + took.cost;
                                               if (took.whole) {
                                                 epochs_.at(took.arm).push_back(took.epochs);
                                               }
                                             });
  }

  Told tell() {
    const records::JobView view = job_->view();
    const records::RecurrenceView& last = view.recurrences.back();
    const Cost of_default = default_.back();
    const Joules default_cost = weighed(now_, of_default);
    const auto about = [&](Said said, Joules truth) {
      return Statement{.said = said, .truth = truth, .of_default = default_cost};
    };
    Told told;
    told.reached = last.state == records::RecurrenceState::reached;
    told.given_up = last.reason;
    told.energy = {.said = {.value = last.energy, .half_width = last.uncertainty},
                   .truth = took_.back().energy,
                   .of_default = of_default.energy};
    told.cost = about({.value = last.cost, .half_width = last.uncertainty * script_.eta}, weighed(now_, took_.back()));
    if (last.default_cost) {
      told.default_cost =
          about({.value = *last.default_cost, .half_width = last.default_cost_uncertainty}, default_cost);
      told.saved_by_it = about({.value = *last.default_cost - last.cost, .half_width = last.default_cost_uncertainty},
                               default_cost - told.cost.truth);
    }
    tell_belief(view, told, default_cost);
    tell_savings(view, told);
    const records::TryView& one = view.tries.back();
    const std::size_t arm = arm_of(one.batch_size);
    told.ran_default = arm == now_.usual && one.limit == now_.gpu.limits.max;
    told.student = student();
    // That of the last training, or the choice where it had several.
    told.limit = one.limit ? one.limit : chosen_limit(view, one.batch_size);
    if (told.limit) {
      told.over_best = excess_of_limit(now_, now_.arms[arm], *told.limit, device_.power_limits);
    }
    return told;
  }

  static std::optional<Watts> chosen_limit(const records::JobView& view, int batch_size) {
    const auto arm = std::ranges::find(view.arms, batch_size, &records::ArmView::batch_size);
    return arm == view.arms.end() ? std::nullopt : arm->best_limit;
  }

  void tell_belief(const records::JobView& view, Told& told, Joules default_cost) {
    for (const records::ArmView& arm : view.arms) {
      profiled_ = profiled_ || !arm.limits.empty();
      if (!arm.is_default && now_.chooses_batch_size) {
        continue;
      }
      if (!arm.expected_cost || !arm.best_limit) {
        continue;
      }
      const Arm& usual = now_.arms[now_.usual];
      const Joules truth = weighed(now_, of_run(now_, usual, *arm.best_limit, expected_epochs(now_, usual)));
      const Joules middle = (*arm.low_cost + *arm.high_cost) * 0.5;
      told.belief = Statement{
          .said = {.value = middle, .half_width = *arm.high_cost - middle}, .truth = truth, .of_default = default_cost};
    }
  }

  // Of those recurrences that what is said is about.
  void tell_savings(const records::JobView& view, Told& told) {
    if (!view.savings) {
      told.unknown = view.savings_unknown;
      return;
    }
    Cost of_default;
    Cost took;
    for (std::size_t number = 0; number < view.recurrences.size(); ++number) {
      if (view.recurrences[number].default_cost) {
        of_default = of_default + default_[number];
        took = took + took_[number];
      }
    }
    told.saved_cost = Statement{.said = {.value = view.savings->cost, .half_width = view.savings->cost_uncertainty},
                                .truth = weighed(script_, of_default) - weighed(script_, took),
                                .of_default = weighed(script_, of_default)};
    told.saved_energy =
        Statement{.said = {.value = view.savings->energy, .half_width = view.savings->energy_uncertainty},
                  .truth = of_default.energy - took.energy,
                  .of_default = of_default.energy};
  }

  [[nodiscard]] std::optional<double> student() const {
    double squares = 0.0;
    std::size_t freedom = 0;
    for (const std::vector<int>& runs : epochs_) {
      const double mean = std::accumulate(runs.begin(), runs.end(), 0.0) / static_cast<double>(runs.size());
      for (const int run : runs) {
        squares += (run / mean - 1.0) * (run / mean - 1.0);
      }
      freedom += runs.empty() ? 0 : runs.size() - 1;
    }
    const std::size_t of_default = epochs_.at(now_.usual).size();
    if (freedom == 0 || of_default == 0) {
      return std::nullopt;
    }
    const Arm& usual = now_.arms[now_.usual];
    const Joules whole = weighed(now_, expected_default(now_));
    const Joules epochs = weighed(now_, of_epoch(now_, usual, now_.gpu.limits.max)) * expected_epochs(now_, usual);
    return jobs::student_quantile(static_cast<int>(freedom)) *
           std::sqrt(squares / static_cast<double>(freedom * of_default)) * (epochs / whole);
  }

  [[nodiscard]] std::size_t arm_of(int batch_size) const {
    const auto found = std::ranges::find(now_.arms, batch_size, &Arm::batch_size);
    return now_.chooses_batch_size ? static_cast<std::size_t>(found - now_.arms.begin()) : now_.usual;
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
  std::vector<Cost> took_;     // by recurrences
  std::vector<Cost> default_;  // what they would have taken
  std::vector<std::vector<int>> epochs_ = std::vector<std::vector<int>>(script_.arms.size());  // of whole runs, by arm
  bool profiled_ = false;
};

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
    ScriptedCommand::Took took;
    ScriptedCommand command{script, arm, {}, gpu, clock, draws, [&](const ScriptedCommand::Took& one) { took = one; }};
    while (!command.exit_code()) {
      (void)command.wait(Seconds{3600});
    }
    const Cost law = of_run(script, script.arms[arm], limit, took.epochs);
    worst = std::max({worst, std::abs(took.cost.energy / law.energy - 1.0), std::abs(took.cost.time / law.time - 1.0)});
  }
  return worst;
}

Played play(const Script& script, const test::TemporaryFolder& folder) {
  return Player{script, folder}.play();
}

}  // namespace zeus::truth
