#include "cli/simulate_paper_command.hpp"

#include "cli/input_file.hpp"
#include "cli/output_file.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "records/json_writer.hpp"
#include "report/findings_report.hpp"
#include "research/paper_study.hpp"
#include "research/slice_trace.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <ostream>
#include <utility>

namespace zeus::cli {

void SimulatePaperCommand::declare(Options& options) {
  options.example("zeus simulate paper --html paper.html", "all of it, by the built-in models");
  command_line::Option train = options.add_option("--train-trace", train_trace_, "CSV of epochs to each target").path();
  command_line::Option power =
      options
          .add_option("--power-trace", power_traces_,
                      "CSV of epoch times and powers of one GPU model; give one for each. Without traces "
                      "the built-in workload models are replayed")
          .path();
  train.goes_with(power);
  options
      .add_option("--capriccio", slices_,
                  "CSV of the epochs that trainings on slices of drifting data took (docs/reproduce-nsdi23.md)")
      .path();
  options.add_flag("--goodput", goodput_,
                   "Also train a small network beside one whose batch size follows its goodput; some seconds a seed");
  options.add_option("--html", html_, "Where to write the page").also("--report").path().value_name("FILE|-");
  options.add_option("--json", json_, "Where to write the same figures as JSON; - is standard output")
      .path()
      .value_name("FILE|-");
  options.add_option("--seeds", seeds_, "How many seeds to average over")
      .rule({.least = 1.0, .most = 100'000.0})
      .with_default();
  options.add_flag("--quiet", quiet_, "Show no progress");
}

research::PaperStudy SimulatePaperCommand::study() const {
  std::optional<research::SliceTrace> slices;
  if (!slices_.empty()) {
    slices = research::parse_slice_trace(slices_, read_input_file(slices_));
  }
  if (train_trace_.empty()) {
    return {.gpus = research::modelled_gpus(),
            .source =
                "No trace was given: everything is computed from the built-in workload and GPU models. Those of V100 "
                "and A40 are fitted to the published traces; RTX6000 and P100 follow their data sheets.",
            .seeds = seeds_,
            .of_traces = false,
            .slices = std::move(slices),
            .goodput = goodput_};
  }
  const trace::TrainTrace train = trace::parse_train_trace(train_trace_, read_input_file(train_trace_));
  std::vector<trace::PowerTrace> power;
  for (const std::string& path : power_traces_) {
    power.push_back(trace::parse_power_trace(path, read_input_file(path)));
  }
  return {.gpus = research::paper_gpus(train, power),
          .source = "Everything but the power-limit plans is computed by replaying the traces given.",
          .seeds = seeds_,
          .slices = std::move(slices),
          .goodput = goodput_};
}

int SimulatePaperCommand::run(Context& context) {
  if (!html_ && !json_) {
    throw BadUsage{"nothing is named to write to", "give --html FILE, --json FILE or both"};
  }
  const auto output = [&context](const std::optional<std::string>& name) {
    return name ? std::optional<OutputFile>{std::in_place, *name, context.out} : std::nullopt;
  };
  const std::optional<OutputFile> page = output(html_);
  const std::optional<OutputFile> json = output(json_);
  const bool live = has_working_line(context.environment) && !quiet_;
  std::optional<WorkingLine> working{std::in_place, context.err, context.clock, live};
  const records::Findings findings = research::find_out(study(), [&](std::string_view what) {
    working->show(fmt::format("zeus: {}", what));
    if (!live && !quiet_) {
      working->print(fmt::format("zeus: {}", what));
    }
  });
  working.reset();
  if (page) {
    page->write(report::findings_report(findings));
  }
  if (json) {
    json->write(records::json_line(findings) + '\n');
  }
  for (const auto& name : {html_, json_}) {
    if (name && *name != "-" && !quiet_) {
      context.err << fmt::format("zeus: wrote {}\n", *name);
    }
  }
  return exit_ok;
}

}  // namespace zeus::cli
