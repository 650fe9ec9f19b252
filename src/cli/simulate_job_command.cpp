#include "cli/simulate_job_command.hpp"

#include "cli/input_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "optimize/batch_size/oracle_policy.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "research/policy_program.hpp"
#include "simulate/drift.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/model_workload.hpp"
#include "simulate/workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <system_error>
#include <vector>

namespace zeus::cli {

namespace {

// So that adding the number of seeds cannot overflow.
constexpr field::Rule seeds_with_room{.least = 0.0, .most = 1e18};
constexpr std::string_view by_program = "exec:";
constexpr std::uint64_t most_recurrences = 10'000'000;

std::uint64_t count_of(const std::string& text, std::string_view what) {
  std::uint64_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc{} || end != text.data() + text.size() || count == 0 || count > most_recurrences) {
    throw Error{
        ErrorKind::invalid_argument, fmt::format("{} cannot be '{}'", what, text),
        fmt::format("give {}a number from 1 to {}", what == "recurrences" ? "`auto` or " : "", most_recurrences)};
  }
  return count;
}

}  // namespace

void SimulateJobCommand::declare(Options& options) {
  options.example("zeus simulate job --workload cifar100 --gpu V100 --seeds 10",
                  "the built-in model of a workload, ten times");
  options.example("zeus simulate job --workload cifar100 --gpu V100 --policy grid --json",
                  "another policy, for a script");
  declare_job(options);
  options.group("How it is run");
  options.add_option("--eta", eta_, "Weight of energy against time: 0 counts time alone, 1 energy alone")
      .rule(field::share)
      .with_default()
      .value_name("ETA");
  options.add_option("--beta", beta_, "Stop a try once it costs this many times the least so far; inf: never")
      .rule({.least = 0.0, .above_least = true, .null_is_infinite = true})
      .with_default()
      .value_name("BETA");
  options.add_option("--policy", policy_, "zeus, grid, default, oracle, lookahead, or exec:COMMAND, a program of yours")
      .value_name("P")
      .with_default("the best one");
  options.add_option("--window", window_, "Observations a policy remembers, for drift; 0 for all").with_default();
  options.add_option("--drift", drift_, "at=R,tilt=T,curve=C or at=R,random: epochs change at recurrence R")
      .value_name("SPEC");
  options.add_option("--move", move_, "At recurrence R the job moves to other GPUs (with traces: R:POWER-TRACE)")
      .value_name("R:GPU");
  options.add_option("--in-flight", in_flight_, "Recurrences that overlap")
      .rule({.least = 1.0, .most = 10'000.0})
      .with_default();
  options.add_option("--gpus", gpus_, "GPUs the job trains on side by side").rule(field::from_one).with_default();
  options.add_option("--recurrences", recurrences_, "How often the job recurs; auto is 2 x batch sizes x limits")
      .with_default()
      .value_name("N|auto");
  options.add_option("--seeds", seeds_, "How many seeds to average over")
      .rule({.least = 1.0, .most = 10'000'000.0})
      .with_default();
  options.add_option("--seed", first_seed_, "The first seed").rule(seeds_with_room).with_default().value_name("S");
  options.group("Output");
  options.add_flag("--json", json_, "Print one JSON object");
}

void SimulateJobCommand::declare_job(Options& options) {
  options.group("The job, by traces or by a model");
  options.add_option("--train-trace", train_trace_, "CSV of epochs to each target").path();
  options.add_option("--power-trace", power_trace_, "CSV of epoch times and powers of one GPU model").path();
  options.add_option("--dataset", dataset_, "The job's data set in the traces").value_name("D");
  options.add_option("--network", network_, "The job's network").value_name("N");
  options.add_option("--optimizer", optimizer_, "The job's optimizer").value_name("O");
  options.add_option("--target-metric", target_metric_, "The metric a run has to reach").value_name("M");
  options.add_option("--max-epochs", max_epochs_, "Epochs after which a run has failed")
      .rule(field::from_one)
      .value_name("E");
  options.add_option("--default-batch-size", default_batch_size_, "What the job would use without Zeus")
      .rule(field::from_one)
      .value_name("B");
  options.add_option("--workload", workload_, "A built-in workload model in the traces' place").value_name("W");
  options.add_option("--gpu", gpu_, "The GPU model that the workload model runs on").value_name("MODEL");
}

simulate::Workload SimulateJobCommand::workload_on(const std::string& gpu) const {
  if (!workload_.empty()) {
    return simulate::on_gpus(simulate::model_workload(workload_, gpu), gpus_);
  }
  return simulate::on_gpus(
      simulate::select_workload(trace::parse_train_trace(train_trace_, read_input_file(train_trace_)),
                                trace::parse_power_trace(gpu, read_input_file(gpu)),
                                {.dataset = dataset_,
                                 .network = network_,
                                 .optimizer = optimizer_,
                                 .target_metric = target_metric_.value_or(0.0),
                                 .max_epochs = max_epochs_,
                                 .default_batch_size = default_batch_size_}),
      gpus_);
}

SimulateJobCommand::Course SimulateJobCommand::course() const {
  const bool of_traces = !train_trace_.empty() && !power_trace_.empty() && !dataset_.empty() && !network_.empty() &&
                         !optimizer_.empty() && max_epochs_ != 0 && default_batch_size_ != 0;
  const bool of_model = !workload_.empty() && !gpu_.empty();
  const bool names_traces = !train_trace_.empty() || !power_trace_.empty() || !dataset_.empty() || !network_.empty() ||
                            !optimizer_.empty() || target_metric_ || max_epochs_ != 0 || default_batch_size_ != 0;
  const bool names_model = !workload_.empty() || !gpu_.empty();
  if (names_traces && names_model) {
    throw BadUsage{
        "a job comes from traces or from a model, not both",
        "--workload and --gpu name a model, which has its own targets and default batch size; leave them out "
        "or all of --train-trace, --power-trace, --dataset, --network, --optimizer, --target-metric, "
        "--max-epochs and --default-batch-size"};
  }
  if (!of_traces && !of_model) {
    throw BadUsage{"there is no job to simulate",
                   "give --workload and --gpu, or --train-trace, --power-trace, --dataset, --network, --optimizer, "
                   "--target-metric, --max-epochs and --default-batch-size"};
  }
  Course course{.before = workload_on(workload_.empty() ? power_trace_ : gpu_), .after = {}, .at = {}, .device = {}};
  course.after = course.before;
  if (!drift_.empty() && !move_.empty()) {
    throw BadUsage{"the job can drift or move, not both", "leave out --drift or --move"};
  }
  if (!drift_.empty()) {
    const simulate::Drift drift = simulate::parse_drift(drift_, course.before, eta_, first_seed_);
    course.after = simulate::drifted(course.before, drift);
    course.at = drift.from_recurrence;
  } else if (!move_.empty()) {
    const std::size_t colon = move_.find(':');
    course.at = colon == std::string::npos ? 0 : count_of(move_.substr(0, colon), "recurrence to move at");
    course.device = colon == std::string::npos ? std::string{} : move_.substr(colon + 1);
    if (course.device.empty()) {
      throw Error{ErrorKind::invalid_argument, fmt::format("'{}' is not a move", move_), "write RECURRENCE:GPU"};
    }
    course.after = workload_on(course.device);
    simulate::keep_common(course.before, course.after);
  }
  return course;
}

simulate::SimulationOptions SimulateJobCommand::options(const simulate::Workload& workload) const {
  return {.beta = beta_,
          .window = window_,
          .recurrences = recurrences_ == "auto" ? 2 * workload.arms.size() * workload.limits().size()
                                                : count_of(recurrences_, "recurrences"),
          .in_flight = in_flight_};
}

simulate::PolicyFactory SimulateJobCommand::factory(const std::string& policy, const simulate::Stage& last,
                                                    const Environment& environment) {
  if (policy.starts_with(by_program)) {
    const std::string command = policy.substr(by_program.size());
    if (command.empty()) {
      throw BadUsage{"--policy names no program", "write exec:COMMAND, such as 'exec:python3 policy.py'"};
    }
    return [program = std::make_shared<research::PolicyProgram>(command, environment)](const optimize::JobSpec& spec) {
      return std::make_unique<research::ProgramPolicy>(spec, program);
    };
  }
  return [policy, &last](const optimize::JobSpec& spec) -> std::unique_ptr<optimize::Policy> {
    if (policy == "oracle") {
      const simulate::Configuration& best = last.optimum();
      return std::make_unique<optimize::OraclePolicy>(best.arm,
                                                      last.workload().arms[best.arm].limits[best.limit].limit);
    }
    return optimize::make_policy(policy, spec);
  };
}

int SimulateJobCommand::run(Context& context) {
  const Course course = this->course();
  const simulate::Workload& workload = course.before;
  const simulate::Stage stage{workload, eta_};
  const simulate::Stage last{course.after, eta_};
  const simulate::SimulationOptions options = this->options(workload);
  if (course.at && *course.at >= options.recurrences) {
    throw BadUsage{fmt::format("nothing changes before the end: {} is at recurrence {}, and there are {}",
                               move_.empty() ? "--drift" : "--move", *course.at, options.recurrences),
                   "name an earlier recurrence, or give more --recurrences"};
  }
  std::vector<simulate::Phase> phases = {{.from_recurrence = 0, .stage = &stage, .device = {}}};
  if (course.at) {
    phases.push_back({.from_recurrence = *course.at, .stage = &last, .device = course.device});
  }
  const simulate::Stage& final_stage = *phases.back().stage;
  const std::string policy = policy_.empty() ? std::string{optimize::best_policy} : policy_;
  const simulate::PolicyFactory factory = SimulateJobCommand::factory(policy, final_stage, context.environment);
  simulate::JobSummary summary{final_stage, options.recurrences};
  std::optional<WorkingLine> working{std::in_place, context.err, context.clock, has_working_line(context.environment)};
  for (std::uint64_t seed = first_seed_; seed < first_seed_ + seeds_; ++seed) {
    working->show(fmt::format("zeus: seed {} of {}", seed - first_seed_ + 1, seeds_));
    summary.add(simulate::simulate_job(phases, options, factory, seed));
  }
  working.reset();
  if (json_) {
    context.out << summary.to_json(policy, seeds_) << '\n';
    return exit_ok;
  }
  const simulate::Configuration& best = final_stage.optimum();
  context.out << fmt::format(
      "{} under {}: {} recurrences, {} seeds\n"
      "  best configuration           batch size {}, {} W\n"
      "  last five against the default  energy {:.3f}, time {:.3f}\n"
      "  last five against the best     expected cost {:.3f}\n"
      "  regret, in runs of the best    {:.2f} (expected {:.2f})\n",
      workload.name, policy, options.recurrences, seeds_, workload.arms[best.arm].batch_size,
      workload.arms[best.arm].limits[best.limit].limit.value(), summary.last_energy_ratio().mean(),
      summary.last_time_ratio().mean(), summary.last_expected_cost_ratio().mean(), summary.regret().mean(),
      summary.expected_regret().mean());
  return exit_ok;
}

}  // namespace zeus::cli
