#include "cli/run_command.hpp"

#include "base/child_process.hpp"
#include "base/log.hpp"
#include "base/program_folder.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"
#include "records/energy_rates.hpp"
#include "records/json_writer.hpp"
#include "run/job_file.hpp"
#include "run/job_run.hpp"
#include "run/messages.hpp"
#include "run/run_record.hpp"

#include <zeus/energy.hpp>
#include <zeus/error.hpp>

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::cli {

namespace {

constexpr double longest_seconds = 1e6;
constexpr field::Rule stop_factor{.least = 0.0, .above_least = true, .null_is_infinite = true};

std::string record_line(const run::RunRecord& record, const records::EnergyRates& rates) {
  records::JsonWriter json;
  json.object([&] {
    json.put_fields(record);
    std::optional<Energy> energy;
    if (record.energy) {
      energy = Energy{.value = *record.energy, .uncertainty = record.uncertainty.value_or(Joules{0}), .systematic = {}};
    }
    records::put_amounts(json, rates, energy, record.energy_unknown);
  });
  return json.take();
}

}  // namespace

void RunCommand::declare(Options& options) {
  options.example("zeus run -- python train.py", "the power limit alone, found while it trains");
  options.example("zeus run @nightly", "a recurrence of the job that nightly.toml describes; `zeus init` writes it");
  options.example(
      "zeus run --job nightly --batch-sizes 32,64,128 --default-batch-size 64 --target-metric 0.9 \\\n      "
      "--metric-regex 'accuracy ([0-9.]+)' -- python train.py {batch_size}",
      "the same without a file: batch size and power limit, learned from one recurrence to the next");
  options.footer(
      "{batch_size}, {learning_rate}, {seed}, {epochs} and {target_metric} in CMD are filled in, and are in its\n"
      "environment as ZEUS_BATCH_SIZE and so on. Without --job, the power limit alone is chosen.\n"
      "docs/run.md has all of it. Exits with the command's code (128+n for signal n), 125 on a failure of its\n"
      "own, 126 when the command cannot be executed, 127 when it is not found.");
  options.add_option("CMD", words_,
                     "The command and its arguments, after --; or @NAME, the job that NAME.toml describes");
  options.after_dashes(after_dashes_);
  declare_job(options);
  declare_goal(options);
  declare_progress(options);
  declare_limits(options);
  declare_rest(options);
}

void RunCommand::declare_job(Options& options) {
  options.group("The job");
  options.add_option("--job", plain_.job, "The recurring job that this is one recurrence of").value_name("NAME");
  options.add_option("--file", file_, "The job file, instead of one that is looked for by its name").path();
  options.add_option("--store", plain_.store, "Where jobs are kept: a file, or postgresql://...")
      .path()
      .with_default("the user's own store")
      .value_name("FILE|URL");
  options
      .add_option("--server", plain_.server,
                  "The Zeus server that keeps jobs, instead of a store; $ZEUS_TOKEN is your token there")
      .with_default("$ZEUS_SERVER")
      .value_name("URL");
  options
      .add_option("--server-patience", plain_.server_patience,
                  "How long to wait, when the command has ended, for a server that is away")
      .rule(field::from_zero)
      .with_default("600")
      .value_name("SECONDS");
  options.add_option("--on-store-error", on_store_error_, "What to do when nothing can be recorded")
      .among({"continue", "refuse"})
      .with_default("continue");
}

void RunCommand::declare_goal(Options& options) {
  options.group("Batch sizes, and the target");
  options.add_option("--batch-sizes", plain_.batch_sizes, "The batch sizes to choose from")
      .delimiter(',')
      .rule(field::from_one)
      .value_name("B,B");
  options.add_option("--default-batch-size", plain_.default_batch_size, "The one you would use without Zeus")
      .rule(field::from_one)
      .value_name("B");
  options.add_option("--learning-rate", learning_rate_, "The learning rate for a batch size, as 128:0.1")
      .value_name("B:LR");
  options.add_option("--lr-scaling", scaling_, "How the learning rate grows with the batch size")
      .among({"linear", "sqrt"})
      .with_default("linear");
  options.add_option("--target-metric", plain_.target_metric, "What the metric has to reach").value_name("M");
  options.add_flag("--higher-is-better", higher_,
                   "The metric has to rise to its target, which is assumed without either flag");
  options.add_flag("--lower-is-better", lower_, "The metric has to fall to its target");
  options.add_option("--max-epochs", plain_.max_epochs, "A try that has not reached the target by then has failed")
      .rule(field::from_one)
      .value_name("E");
  options.add_flag("--stop-at-target", plain_.stop_at_target, "End the command when it has reached its target");
  options.group("How to choose");
  options.add_option("--eta", plain_.eta, "Weight of energy against time: 0 counts time alone, 1 energy alone")
      .rule(field::share)
      .with_default("0.5")
      .value_name("ETA");
  options
      .add_option("--beta", plain_.beta,
                  "Stop a try once it costs this many times what the best known one costs; inf: never")
      .rule(stop_factor)
      .with_default("2")
      .value_name("BETA");
  options
      .add_option("--window", plain_.window,
                  "Learn from the last N results of each batch size only, for data that drifts")
      .with_default("all")
      .value_name("N");
  options.add_option("--policy", plain_.policy, "How batch sizes are chosen: lookahead, zeus, grid or default")
      .with_default("lookahead; zeus where no steps can be seen")
      .value_name("P");
  options.add_option("--seed", plain_.seed, "Seed of every random draw; {seed} counts up from it")
      .with_default("0")
      .value_name("S");
}

void RunCommand::declare_progress(Options& options) {
  options.group("What the command prints");
  options
      .add_option("--metric-regex", plain_.metric_regex, "Matches where the metric is printed, with a group around it")
      .value_name("R");
  options.add_option("--epoch-regex", plain_.epoch_regex, "Matches once an epoch; a group may be its number")
      .value_name("R");
  options.add_option("--step-regex", plain_.step_regex, "Matches once a step; a group may be its number")
      .with_default("one that fits most trainers")
      .value_name("R");
}

void RunCommand::declare_limits(Options& options) {
  options.group("Power limits");
  options.add_option("--power-limits", power_limits_, "Limits to choose from, as 100,150,200, or off: none")
      .with_default("auto")
      .value_name("auto|W,W|off");
  options
      .add_option("--max-slowdown", plain_.max_slowdown,
                  "Use no power limit that slows training by more than this factor")
      .rule(field::from_one)
      .value_name("F");
  options.add_option("--profile-seconds", plain_.profile_seconds, "How long to measure each power limit")
      .rule({.least = 0.0, .most = longest_seconds, .above_least = true})
      .with_default("5; without a job at most 1.5")
      .value_name("S");
  options
      .add_flag("--observe", observe_, "limits",
                "Measure power limits, keep none, and say what could be saved; =passive: set none at all")
      .among({"limits", "passive"});
  options
      .add_option("--gpus", gpus_,
                  "The GPUs that the command trains on: by number, as `zeus devices` shows it, or by UUID")
      .delimiter(',')
      .with_default("all that it sees")
      .value_name("GPU,GPU");
}

void RunCommand::declare_rest(Options& options) {
  options.group("While it runs");
  options.add_option("--grace", plain_.grace, "Seconds between asking the command to end and killing it")
      .rule({.least = 0.0, .most = longest_seconds})
      .with_default("10")
      .value_name("S");
  options.add_flag("--quiet", plain_.quiet, "Print nothing but problems");
  options.add_option("--json", json_, "Write the result as one line of JSON; - is standard output")
      .path()
      .value_name("FILE|-");
  rates_.declare(options);
  add_color_option(options, color_);
}

std::string_view RunCommand::job_name() const {
  return !words_.empty() && words_.front().starts_with('@') ? std::string_view{words_.front()}.substr(1) : "";
}

run::JobSettings RunCommand::said() const {
  run::JobSettings settings = plain_;
  std::vector<std::string> command{words_.begin() + (job_name().empty() ? 0 : 1), words_.end()};
  command.insert(command.end(), after_dashes_.begin(), after_dashes_.end());
  if (!command.empty()) {
    settings.command = command;
  }
  if (higher_ && lower_) {
    throw BadUsage{"a metric cannot be better both ways", "give --higher-is-better or --lower-is-better"};
  }
  if (higher_ || lower_) {
    settings.higher_is_better = higher_;
  }
  if (!learning_rate_.empty()) {
    settings.learning_rate = run::parse_learning_rate(learning_rate_, run::RateScaling::linear);
  }
  settings.lr_scaling = field::named<run::RateScaling>(scaling_);
  if (!power_limits_.empty()) {
    settings.power_limits = run::parse_limit_choice(power_limits_);
  }
  for (const std::string& gpu : gpus_) {
    if (!settings.gpus) {
      settings.gpus.emplace();
    }
    settings.gpus->push_back({gpu});
  }
  const records::EnergyRates rates = rates_.rates();
  settings.price = rates.price;
  settings.carbon = rates.carbon;
  settings.on_store_error = field::named<run::StoreFailure>(on_store_error_);
  return settings;
}

// Where the job is kept: the command line counts first, then the job file, then the environment.
void RunCommand::choose_where(run::JobSettings& settings, const Context& context) const {
  if (plain_.server) {
    settings.store.reset();
  } else if (plain_.store) {
    settings.server.reset();
  }
  if ((plain_.server && plain_.store) || (settings.server && settings.store)) {
    throw BadUsage{"a job is kept in a store or by a server, and both are named", "leave out --store or --server"};
  }
  if (!settings.server && !settings.store) {
    settings.server = context.environment.get("ZEUS_SERVER");
  }
}

run::RunOptions RunCommand::options(const Context& context) const {
  run::JobSettings settings = said();
  const bool in_file = !job_name().empty() || !file_.empty();
  if (in_file) {
    const run::JobFolders folders = run::job_folders(context.environment, std::filesystem::current_path());
    settings = run::merged(settings, file_.empty() ? run::find_job(FileTree{}, folders, job_name())
                                                   : run::read_job(FileTree{}, folders, file_, job_name()));
  }
  choose_where(settings, context);
  run::RunOptions options = run::options_of(settings);
  if (observe_ == "passive") {
    options.mode = TrainingMode::passive;
  } else if (observe_ == "limits") {
    options.mode = TrainingMode::observe;
  }
  std::string why;
  std::string advice;
  try {
    return run::checked(std::move(options));
  } catch (const Error& error) {
    why = error.message();
    advice = error.advice();
  }
  if (in_file) {
    const std::string file = file_.empty() ? std::string{"@"}.append(job_name()) : file_;
    throw Error{ErrorKind::invalid_argument, file + ": " + why, advice};
  }
  throw BadUsage{why, advice};
}

int RunCommand::failure_code() const {
  return ChildProcess::exit_own_failure;
}

int RunCommand::run(Context& context) {
  const run::RunOptions checked = options(context);
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  run::Messages messages{context.err, checked.quiet, command_line::colour_on_errors(color_, context.environment)};
  const log::ScopedSink sink{[&messages](log::Level, std::string_view line) { messages.warn(line); }};
  const run::Place place{.clock = context.clock,
                         .environment = context.environment,
                         .machine = context.files,
                         .backends = context.backends,
                         .beside = program_folder(),
                         .lessor = context.lessor};
  run::JobRun job{checked, place, messages};
  const int code = job.run();
  if (json) {
    json->write(record_line(job.record(), checked.rates) + '\n');
  }
  return code;
}

}  // namespace zeus::cli
