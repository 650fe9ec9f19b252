#include "cli/sweep_command.hpp"

#include "base/amount_text.hpp"
#include "base/printable.hpp"
#include "base/program_folder.hpp"
#include "base/signal_descriptor.hpp"
#include "cli/output_file.hpp"
#include "cli/text_table.hpp"
#include "cli/working_line.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"
#include "report/findings_report.hpp"
#include "run/training_gpus.hpp"
#include "sweep/engine.hpp"
#include "sweep/host_run.hpp"
#include "sweep/ledger.hpp"
#include "sweep/results.hpp"
#include "sweep/slurm_sweep.hpp"

#include <zeus/error.hpp>
#include <zeus/version.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::cli {

namespace {

// Results go to no stream that runs could share, so that all lines here are for people.
class SweepTeller final : public sweep::SweepListener {
 public:
  SweepTeller(const Context& context, bool show, bool quiet)
      : line_{context.err, context.clock, !quiet && has_working_line(context.environment)},
        show_{show},
        quiet_{quiet} {}

  void warn(const std::string& line) override { line_.print("zeus: " + line); }
  void progress(const std::string& line) override { line_.show(line); }
  void line(const std::string& place, std::string_view line) override {
    if (show_) {
      line_.print(fmt::format("[{}] {}", place, line));
    }
  }
  void ended(const sweep::KnownRun& run) override {
    if (quiet_) {
      return;
    }
    const sweep::RunFigures& figures = run.ended->figures;
    std::string text = fmt::format("run {} on {} {}", run.started.run, run.started.place,
                                   run.ended->outcome == sweep::Outcome::done ? "is done" : "");
    if (run.ended->outcome != sweep::Outcome::done) {
      text += fmt::format("{}: {}", run.ended->outcome == sweep::Outcome::lost ? "is lost" : "failed",
                          printable(run.ended->why));
    }
    if (figures.time) {
      text += ", " + to_text(*figures.time);
    }
    if (figures.energy) {
      text += ", " + to_text(figures.energy->value, figures.energy->uncertainty);
    }
    line_.print(fmt::format("{}: {}", text, printable(shortened(run.started.command, 100))));
  }

 private:
  WorkingLine line_;
  bool show_;
  bool quiet_;
};

void add_folder(Options& options, std::string& folder) {
  options.add_option("--folder", folder, "The sweep's folder").path().with_default("this one").value_name("DIR");
}

sweep::LedgerContent ledger_in(const std::string& folder) {
  const std::filesystem::path file = std::filesystem::path{folder} / sweep::ledger_name;
  if (!std::filesystem::exists(file)) {
    throw Error{ErrorKind::not_found, fmt::format("there is no sweep in {}", in_quotes(folder)),
                "`zeus sweep queue` begins one; --folder names another folder"};
  }
  return sweep::read_ledger(file);
}

std::string results_text(const sweep::LedgerContent& ledger, bool in_colour) {
  const std::vector<std::string> names = sweep::parameter_names(ledger);
  EnergyColumn energies;
  for (const sweep::KnownRun& run : ledger.runs) {
    if (run.ended && run.ended->figures.energy) {
      energies.fit(run.ended->figures.energy->value, run.ended->figures.energy->uncertainty);
    }
  }
  std::vector<std::string> heading{"run", "state", "place"};
  heading.insert(heading.end(), names.begin(), names.end());
  heading.insert(heading.end(), {"GPU", "time", "energy", "metric"});
  TextTable table{heading, in_colour};
  std::string reasons;
  for (const sweep::KnownRun& run : ledger.runs) {
    const sweep::RunFigures figures = run.ended ? run.ended->figures : sweep::RunFigures{};
    std::vector<Cell> row{fmt::format("{}", run.started.run), sweep::state_text(run), run.started.place};
    for (const std::string& name : names) {
      const std::string* const value = sweep::find_parameter(run.started.parameters, name);
      row.emplace_back(value != nullptr ? printable(shortened(*value, 24)) : "-");
    }
    row.emplace_back(sweep::gpu_text(figures));
    row.emplace_back(figures.time ? to_text(*figures.time) : "-");
    row.emplace_back(figures.energy ? energies.text(figures.energy->value, figures.energy->uncertainty) : "-");
    const std::optional<double> metric = sweep::last_metric(figures);
    row.emplace_back(metric ? fmt::format("{:g}", *metric) : "-");
    table.add(std::move(row));
    if (run.ended && !run.ended->why.empty()) {
      reasons += fmt::format("  run {}: {}\n", run.started.run, printable(shortened(run.ended->why, 300)));
    }
  }
  const std::string shared = sweep::beside_text(ledger);
  return table.text() + reasons + (shared.empty() ? "" : fmt::format("  {}\n", shared));
}

// "Tesla V100-PCIE-32GB" as a part of a file's name.
std::string file_word(const std::string& name) {
  std::string word;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    word += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return word;
}

}  // namespace

std::string SweepDrainCommand::summary() const {
  return kind_ == Kind::queue ? "Run each command of the queue once, on the next free host"
                              : "Run each command of the queue on every host";
}

void SweepDrainCommand::declare(Options& options) {
  if (kind_ == Kind::queue) {
    options.example("zeus sweep queue", "over ssh, with hosts.yaml and queue.yaml of this folder");
    options.example("zeus sweep queue --engine local --show", "all on this machine, with the output of the runs");
  } else {
    options.example("zeus sweep broadcast --stop-at-failure", "set all hosts up by the same sequence of commands");
  }
  options.footer(
      "The folder has hosts.yaml and queue.yaml. Entries move from the queue to consumed.yaml; ledger.jsonl has what\n"
      "came of each run, and output/ what it printed. A second start goes on where the first one stopped. Ctrl-C\n"
      "starts nothing more; twice ends the runs. docs/sweep.md has the files and examples. Exits with 1 if a run is\n"
      "not done or a host is left out.");
  add_folder(options, folder_);
  const bool queue = kind_ == Kind::queue;
  options
      .add_option("--engine", engine_,
                  queue ? "How runs reach their hosts: ssh, slurm, or local for all on this machine"
                        : "How runs reach their hosts: ssh, or local for all on this machine")
      .among(queue ? std::vector<std::string>{"ssh", "slurm", "local"} : std::vector<std::string>{"ssh", "local"})
      .with_default();
  if (kind_ == Kind::queue) {
    options.add_flag("--daemon", daemon_, "Wait for more entries when the queue is empty, until a signal comes");
  }
  options.add_flag("--stop-at-failure", stop_at_failure_, "Start nothing more once a run has failed or is lost");
  options.add_flag("--show", show_, "Show what the runs print, each line after its place");
  options.add_flag("--quiet", quiet_, "Print nothing but problems");
}

int SweepDrainCommand::run(Context& context) {
  const FileDescriptor signals = service_signals();
  SweepTeller teller{context, show_, quiet_};
  const std::string version{zeus::version()};
  if (engine_ == "slurm") {
    return run_in_slurm(context, signals, teller);
  }
  const std::unique_ptr<sweep::Engine> engine = engine_ == "local"
                                                    ? sweep::make_local_engine(program_folder() / "zeus")
                                                    : sweep::make_ssh_engine(context.environment, version);
  sweep::Sweep sweep{{.folder = folder_,
                      .broadcast = kind_ == Kind::broadcast,
                      .stop_at_failure = stop_at_failure_,
                      .wait_for_entries = daemon_},
                     *engine,
                     context.environment,
                     context.clock,
                     version,
                     teller};
  return sweep.run(signals) ? exit_ok : exit_failure;
}

int SweepDrainCommand::run_in_slurm(Context& context, const FileDescriptor& signals,
                                    sweep::SweepListener& listener) const {
  if (stop_at_failure_ || show_) {
    throw BadUsage{fmt::format("{} is not for Slurm", show_ ? "--show" : "--stop-at-failure"),
                   "leave it out, or choose another engine"};
  }
  sweep::SlurmSweep sweep{{.folder = folder_,
                           .wait_for_entries = daemon_,
                           .program = program_folder() / "zeus",
                           .version = std::string{zeus::version()}},
                          context.environment,
                          context.clock,
                          listener};
  return sweep.run(signals) ? exit_ok : exit_failure;
}

void SweepRunCommand::declare(Options& options) {
  options.example("ssh node1 zeus sweep run", "how a sweep starts it");
  options.footer(
      "`zeus sweep queue` and `broadcast` start this on each host. It reads an order, one line of JSON, on standard\n"
      "input, and ends the run when that input ends. As a task of Slurm it takes the order from a folder.");
  options.add_option("--task", task_, "The folder of an array of Slurm, of which this is a task")
      .path()
      .value_name("DIR");
}

int SweepRunCommand::run(Context& context) {
  const run::Place place{.clock = context.clock,
                         .environment = context.environment,
                         .machine = context.files,
                         .backends = context.backends,
                         .beside = program_folder(),
                         .lessor = context.lessor};
  return task_.empty() ? sweep::run_order(place, zeus::version(), STDIN_FILENO)
                       : sweep::run_task(place, zeus::version(), task_);
}

void SweepResultsCommand::declare(Options& options) {
  options.example("zeus sweep results", "a table of all runs");
  options.example("zeus sweep results --csv runs.csv --html runs.html", "for a spreadsheet, and as a page");
  add_folder(options, folder_);
  options.add_option("--csv", csv_, "Write them as CSV; - is standard output").path().value_name("FILE|-");
  options.add_option("--json", json_, "Write them as one JSON object; - is standard output")
      .path()
      .value_name("FILE|-");
  options.add_option("--html", html_, "Write them as a self-contained page").path().value_name("FILE|-");
  add_color_option(options, color_);
}

int SweepResultsCommand::run(Context& context) {
  const sweep::LedgerContent ledger = ledger_in(folder_);
  if (csv_.empty() && json_.empty() && html_.empty()) {
    context.out << results_text(ledger, command_line::colour_on_output(color_, context.environment));
    return exit_ok;
  }
  if (!csv_.empty()) {
    OutputFile{csv_, context.out}.write(sweep::results_csv(ledger));
  }
  if (!json_.empty()) {
    OutputFile{json_, context.out}.write(sweep::results_json(ledger) + '\n');
  }
  if (!html_.empty()) {
    OutputFile{html_, context.out}.write(report::findings_report(sweep::results_findings(ledger)));
  }
  return exit_ok;
}

void SweepTracesCommand::declare(Options& options) {
  options.example("zeus sweep traces --batch-size bs --output traces",
                  "writes traces/summary_train.csv and one power trace for each GPU model");
  options.footer(
      "A run is in the traces if it is done, printed its epochs and metrics, and its energy is known. The parameters\n"
      "dataset, network, optimizer and learning_rate of the queue, if it has them, are columns.");
  add_folder(options, folder_);
  options.add_option("--output", output_, "The folder for the traces")
      .path()
      .with_default("this one")
      .value_name("DIR");
  options.add_option("--batch-size", columns_.batch_size, "The parameter that is the batch size")
      .with_default()
      .value_name("NAME");
  options.add_option("--dataset", columns_.dataset, "The data set of runs without such a parameter")
      .with_default()
      .value_name("D");
  options.add_option("--network", columns_.network, "Their network").with_default().value_name("N");
  options.add_option("--optimizer", columns_.optimizer, "Their optimizer").with_default().value_name("O");
  options.add_option("--target-metric", columns_.target_metric, "The metric that a run has to reach")
      .with_default("that of the queue's entry")
      .value_name("M");
}

int SweepTracesCommand::run(Context& context) {
  const sweep::SweepTraces traces = sweep::traces_of(ledger_in(folder_), columns_);
  for (const std::string& line : traces.left_out) {
    context.err << "zeus: " << line << '\n';
  }
  if (traces.runs == 0) {
    throw Error{ErrorKind::not_found, traces.left_out.empty() ? "the ledger has no run" : "no run can be in a trace",
                "docs/sweep.md says what a run needs for that"};
  }
  const std::filesystem::path folder{output_};
  const auto write = [&](const std::string& file, const std::string& content) {
    const std::string path = (folder / file).string();
    OutputFile{path, context.out}.write(content);
    context.out << path << '\n';
  };
  write("summary_train.csv", traces.train);
  for (const auto& [gpu, content] : traces.power) {
    write(fmt::format("summary_power_{}.csv", file_word(gpu)), content);
  }
  return exit_ok;
}

SweepCommand::SweepCommand() {
  commands_.push_back(std::make_unique<SweepDrainCommand>(SweepDrainCommand::Kind::queue));
  commands_.push_back(std::make_unique<SweepDrainCommand>(SweepDrainCommand::Kind::broadcast));
  commands_.push_back(std::make_unique<SweepRunCommand>());
  commands_.push_back(std::make_unique<SweepResultsCommand>());
  commands_.push_back(std::make_unique<SweepTracesCommand>());
}

void SweepCommand::declare(Options& options) {
  options.example("zeus sweep queue --engine local", "run the commands of queue.yaml on this machine");
  options.example("zeus sweep results", "what each of them took");
  options.add_commands(commands_, chosen_);
}

}  // namespace zeus::cli
