#include "cli/pipeline_command.hpp"

#include "cli/input_file.hpp"
#include "cli/output_file.hpp"
#include "cli/pipeline_output.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "optimize/pipeline/frequency_choice.hpp"
#include "optimize/pipeline/frontier.hpp"
#include "optimize/pipeline/margin.hpp"
#include "optimize/pipeline/profile_fit.hpp"
#include "optimize/pipeline/schedule.hpp"
#include "optimize/pipeline/stage_profile.hpp"
#include "records/measured_iteration.hpp"
#include "report/pipeline_report.hpp"
#include "trace/dag_file.hpp"
#include "trace/instruction_profile.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <ostream>
#include <utility>

namespace zeus::cli {

namespace {

using optimize::pipeline::FrequencyChooser;
using optimize::pipeline::Frontier;

constexpr std::size_t default_points = 10;
constexpr field::Rule copies{.least = 1.0, .most = 1e6};

// The names of a fixed set, as a flag takes them.
template <typename Values>
std::vector<std::string> words_of(const Values& values) {
  std::vector<std::string> words;
  for (const auto value : values) {
    words.emplace_back(to_string(value));
  }
  return words;
}

// Rounds profiles and communication to whole multiples of a unit, as tools with a fixed step see them.
void round_times(records::ComputationGraph& graph, Seconds unit) {
  const auto rounded = [&](Seconds time) { return unit * std::round(time / unit); };
  for (records::ComputationProfile& profile : graph.profiles) {
    for (records::FrequencyOption& option : profile.options) {
      if (option.time > Seconds{0} && rounded(option.time) == Seconds{0}) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("--unit-time of {} s is too long: a computation of {} s would take no time",
                                unit.value(), option.time.value()),
                    "give a time well below that of every computation"};
      }
      option.time = rounded(option.time);
    }
  }
  for (records::Dependency& edge : graph.dependencies) {
    edge.time = rounded(edge.time);
  }
}

// From the fastest iteration to that of least energy.
std::vector<Seconds> evenly_spaced(const Frontier& frontier, std::size_t points) {
  std::vector<Seconds> times;
  const Seconds range = frontier.least_energy() - frontier.fastest();
  for (std::size_t i = 0; i < points; ++i) {
    times.push_back(points == 1
                        ? frontier.fastest()
                        : frontier.fastest() + range * (static_cast<double>(i) / static_cast<double>(points - 1)));
  }
  return times;
}

}  // namespace

void PipelineCommand::declare(Options& options) {
  options.example("zeus pipeline --profile profile.csv --stages 4 --microbatches 32 --html plan.html",
                  "plans of a pipeline that was measured");
  options.example("zeus pipeline --dag graph.txt --at 2.5s --json plan.json",
                  "one iteration time, for another graph of computations");
  options.example("zeus pipeline --measured before.json --measured after.json --html picture.html",
                  "what a training measured without and with its plan");
  declare_pipeline(options);
  options.group("How to plan");
  options.add_option("--p2p-power", blocking_power_, "What a GPU draws while it blocks on its neighbours")
      .with_default()
      .value_name("W");
  options.add_option("--unit-time", unit_time_, "Round all times to multiples of this")
      .rule(field::above_zero)
      .with_default("no rounding");
  options
      .add_option(
          "--fit", fit_,
          "Plan with curves through the measurements: smooth for noisy profiles, exponential as other tools do; "
          "none plans with what was measured")
      .among(words_of(optimize::pipeline::all_profile_fits()))
      .with_default();
  options
      .add_option("--margin", margin_,
                  "Leave slowed computations this share of their time to spare, for noisy profiles")
      .rule(field::share)
      .with_default()
      .value_name("SHARE");
  options.group("Which plans");
  options.add_option("--at", at_, "Plan for iterations of this time; may be repeated");
  options.add_option("--points", points_, "Plan for this many times, from the fastest to the one of least energy")
      .rule({.least = 1.0, .most = 10'000.0})
      .with_default(fmt::format("{}", default_points));
  options.group("What was measured");
  options
      .add_option("--measured", measured_,
                  "Iterations that a training measured, without a plan and then with it; given twice")
      .path();
  options.group("Where to write it");
  options
      .add_option("--json", json_,
                  "Write the frontier and the plans, or what was measured, as JSON to a file, or - for standard output")
      .path()
      .value_name("FILE|-");
  options.add_option("--html", html_, "Write a report to look at").path();
}

void PipelineCommand::declare_pipeline(Options& options) {
  options.group("The pipeline");
  options.add_option("--profile", profile_, "CSV of measurements: stage,instruction,frequency,time,energy (MHz, s, J)")
      .path();
  options.add_option("--dag", dag_, "Any graph of computations instead (docs/pipeline.md has the format)").path();
  options.add_option("--stages", stages_, "Pipeline ranks").rule(field::from_one);
  options.add_option("--microbatches", microbatches_, "Micro-batches per iteration").rule(field::from_one);
  options.add_option("--schedule", schedule_, "The order in which the ranks work")
      .among(words_of(optimize::pipeline::all_schedules()))
      .with_default("1f1b");
  options
      .add_option("--chunks", chunks_, "Model chunks per rank, for interleaved; the profile has stages x chunks stages")
      .rule(field::from_one)
      .with_default();
  options.add_option("--data-parallel", data_parallel_, "Copies of the pipeline")
      .rule(copies)
      .with_default("the profile's ranks per stage, else 1");
  options.add_option("--tensor-parallel", tensor_parallel_, "GPUs that share each stage's work")
      .rule(copies)
      .with_default("1");
  options.add_option("--p2p-time", transfer_time_, "Communication between neighbouring stages takes this long")
      .with_default("0s");
}

void PipelineCommand::check_usage() const {
  const auto refuse = [](const char* what, const char* advice) { throw BadUsage{what, advice}; };
  if (!measured_.empty()) {
    if (measured_.size() != 2) {
      refuse("--measured compares iterations without a plan and with it", "give it twice, before and after");
    }
    if (!profile_.empty() || !dag_.empty() || stages_ != 0 || microbatches_ != 0 || !at_.empty() || points_ != 0) {
      refuse("--measured shows what was measured, and plans nothing",
             "leave out --profile, --dag, --stages, --microbatches, --at and --points");
    }
    return;
  }
  if (profile_.empty() == dag_.empty()) {
    refuse("a pipeline is either --profile with --stages and --microbatches, or --dag", "give one of the two");
  }
  if (!profile_.empty() && (stages_ == 0 || microbatches_ == 0)) {
    refuse("--profile needs --stages and --microbatches", "give both, at least 1");
  }
  if (!dag_.empty() && (stages_ != 0 || microbatches_ != 0 || !schedule_.empty() || chunks_ != 1 ||
                        data_parallel_ != 0 || tensor_parallel_ != 0 || transfer_time_)) {
    refuse(
        "a graph already says what runs where and how long communication takes",
        "leave out --stages, --microbatches, --schedule, --chunks, --data-parallel, --tensor-parallel and --p2p-time");
  }
  if (!at_.empty() && points_ != 0) {
    refuse("--at and --points both say which plans are wanted", "give one of the two");
  }
}

records::ComputationGraph PipelineCommand::read_schedule(Watts blocking_power) const {
  const auto rows = trace::parse_instruction_profile(profile_, read_input_file(profile_));
  const auto stages = optimize::pipeline::stage_profiles_of(rows, blocking_power);
  const bool said = data_parallel_ != 0 || tensor_parallel_ != 0;
  return optimize::pipeline::make_schedule(
      {.schedule = *optimize::pipeline::schedule_from(schedule_.empty() ? "1f1b" : schedule_),
       .devices = stages_,
       .microbatches = microbatches_,
       .chunks = chunks_,
       .copies =
           said ? std::max<std::size_t>(data_parallel_, 1) * std::max<std::size_t>(tensor_parallel_, 1) : stages.copies,
       .transfer_time = transfer_time_.value_or(Seconds{0})},
      stages.profiles);
}

records::ComputationGraph PipelineCommand::read_graph(Watts blocking_power) const {
  records::ComputationGraph graph =
      dag_.empty() ? read_schedule(blocking_power) : trace::parse_dag(dag_, read_input_file(dag_));
  graph = optimize::pipeline::with_fit(std::move(graph), *optimize::pipeline::profile_fit_from(fit_), blocking_power);
  if (unit_time_) {
    round_times(graph, *unit_time_);
  }
  return optimize::pipeline::with_margin(std::move(graph), margin_, blocking_power);
}

int PipelineCommand::show_measured(Context& context) const {
  std::vector<records::MeasuredIteration> both;
  for (const std::string& file : measured_) {
    both.push_back(about_file(file, [&] { return records::measured_iteration_from_json(read_input_file(file)); }));
  }
  if (both[0].ranks != both[1].ranks) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} is of {} ranks and {} of {}", measured_[0], both[0].ranks, measured_[1], both[1].ranks),
                "compare iterations of one training"};
  }
  if (!html_.empty()) {
    OutputFile{html_, context.out}.write(report::measured_report(measured_study_of(both[0], both[1])));
  }
  if (!json_.empty()) {
    OutputFile{json_, context.out}.write(measured_json(both[0], both[1]));
  }
  if (json_ != "-" && html_ != "-") {
    context.out << measured_table(both[0], both[1]);
  }
  return exit_ok;
}

int PipelineCommand::run(Context& context) {
  check_usage();
  if (!measured_.empty()) {
    return show_measured(context);
  }
  const auto output = [&context](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional<OutputFile>{std::in_place, name, context.out};
  };
  const std::optional<OutputFile> html = output(html_);
  const std::optional<OutputFile> json = output(json_);
  std::optional<WorkingLine> working{std::in_place, context.err, context.clock, has_working_line(context.environment)};
  working->show("zeus: reading the pipeline");
  const records::ComputationGraph graph = read_graph(blocking_power_);
  working->show(fmt::format("zeus: finding the frontier of {} computations", graph.computations.size()));
  const Instant begin = context.clock.now();
  const Frontier frontier{graph, blocking_power_};
  const Seconds solving = context.clock.now() - begin;
  PipelineResult result{.graph = graph,
                        .frontier = frontier,
                        .blocking_power = blocking_power_,
                        .times = at_,
                        .choices = {},
                        .solving = solving};
  if (at_.empty()) {
    result.times = evenly_spaced(frontier, points_ == 0 ? default_points : points_);
  }
  const FrequencyChooser chooser{graph, blocking_power_};
  for (const Seconds time : result.times) {
    working->show(fmt::format("zeus: plan {} of {}", result.choices.size() + 1, result.times.size()));
    result.choices.push_back(chooser.choose(frontier, time));
  }
  working.reset();
  if (html) {
    html->write(report::pipeline_report(study_of(result)));
  }
  if (json) {
    json->write(pipeline_json(result));
  }
  if (json_ != "-" && html_ != "-") {
    context.out << pipeline_table(result);
  }
  return exit_ok;
}

}  // namespace zeus::cli
