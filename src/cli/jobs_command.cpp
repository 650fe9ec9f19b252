#include "cli/jobs_command.hpp"

#include "cli/input_file.hpp"
#include "cli/jobs_text.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"
#include "jobs/job.hpp"
#include "jobs/stored_keeper.hpp"
#include "protocol/jobs_api.hpp"
#include "records/json_writer.hpp"
#include "remote_jobs/served_keeper.hpp"
#include "remote_jobs/server_address.hpp"
#include "report/job_report.hpp"
#include "run/job_file.hpp"
#include "store/open_store.hpp"
#include "toml/toml_reader.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace zeus::cli {

using store::Access;

namespace {

// Asks on the terminal. Without a terminal there is no one to ask.
bool agreed(const Context& context, const std::string& action, const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} asks first, and there is no terminal to ask on", action),
                fmt::format("add --yes to {} without asking", action)};
  }
  context.err << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void JobsCommand::declare(Options& options) {
  options.example("zeus jobs", "all jobs, and what was saved");
  options.example("zeus jobs nightly --html nightly.html", "one of them, as a page");
  options.example("zeus jobs nightly export --file nightly.jsonl", "a copy of all that is known of it");
  options.add_option("NAME", job_, "Only this job");
  options
      .add_option("ACTION", action_,
                  "What to do with it instead of showing it: export, import, forget, redefine or leave-out")
      .among({"export", "import", "forget", "redefine", "leave-out"});
  options.add_option("--store", store_, "The file or PostgreSQL address of the store")
      .path()
      .with_default("the user's own store")
      .value_name("FILE|URL");
  options
      .add_option("--server", server_,
                  "The Zeus server that keeps jobs, instead of a store; $ZEUS_TOKEN is your token there")
      .with_default("$ZEUS_SERVER")
      .value_name("URL");
  options
      .add_option(
          "--file", file_,
          "Where to export to or import from; - is standard output or input. For redefine: the job file, instead "
          "of the one found by the job's name")
      .path()
      .with_default("-")
      .value_name("FILE|-");
  options.add_option("--set", settings_, "Redefine this key alone, as in --set 'eta = 0.7'").value_name("KEY=VALUE");
  options
      .add_option("--recurrence", recurrence_,
                  "The recurrence to leave out, for good: it stays on record and counts for nothing")
      .rule({.least = 1})
      .value_name("N");
  options.add_option("--reason", reason_, "Why it is left out").with_default("it was left out by hand");
  options.add_flag("--yes", yes_, "Forget or leave out without asking");
  options.add_flag("--all", all_, "Show every try, not just the last ones");
  options.add_flag("--json", json_, "Print JSON, on one line");
  options.add_option("--html", html_, "Write the job's report here, a page for a browser; - is standard output")
      .path()
      .value_name("FILE|-");
  add_color_option(options, color_);
  rates_.declare(options);
}

void JobsCommand::check_usage() const {
  if (!store_.empty() && !server_.empty()) {
    throw BadUsage{"jobs are kept in a store or by a server, and both are named", "leave out --store or --server"};
  }
  const bool redefines = action_ == "redefine";
  if (!file_.empty() && action_ != "export" && action_ != "import" && !redefines) {
    throw BadUsage{"--file is for export, import and redefine", "leave it out"};
  }
  if (!settings_.empty() && (!redefines || !file_.empty())) {
    throw BadUsage{"--set is for redefine without --file", "leave it out"};
  }
  const bool leaves_out = action_ == "leave-out";
  if (yes_ && action_ != "forget" && !leaves_out) {
    throw BadUsage{"--yes is for forget and leave-out", "leave it out"};
  }
  if (recurrence_.has_value() != leaves_out) {
    throw BadUsage{leaves_out ? "leave-out needs the number of a recurrence" : "--recurrence is for leave-out",
                   leaves_out ? "name it with --recurrence; `zeus jobs NAME` shows them" : "leave it out"};
  }
  if (!reason_.empty() && !leaves_out) {
    throw BadUsage{"--reason is for leave-out", "leave it out"};
  }
  if (!html_.empty() && (job_.empty() || !action_.empty() || json_)) {
    throw BadUsage{"--html is the report of one job", "write `zeus jobs NAME --html FILE`"};
  }
  if (rates_.any() && (job_.empty() || !action_.empty() || json_)) {
    throw BadUsage{"--price and --carbon are for one job's text and page",
                   "leave them out, or name a job without --json"};
  }
  if (json_ && action_ == "export") {
    throw BadUsage{"an export is JSON already, a line for each entry", "leave out --json"};
  }
  if (json_ && (action_ == "forget" || leaves_out)) {
    throw BadUsage{fmt::format("{} has no results to print as JSON", action_), "leave out --json"};
  }
}

// The command line counts before the environment.
std::string JobsCommand::server(const Context& context) const {
  return server_.empty() && store_.empty() ? context.environment.get("ZEUS_SERVER").value_or("") : server_;
}

std::unique_ptr<jobs::Keeper> JobsCommand::open(const Context& context, Access access) const {
  if (const std::string address = server(context); !address.empty()) {
    return remote_jobs::served_keeper(
        remote_jobs::RemotePlan{.address = remote_jobs::server_address(address, context.environment),
                                .token = context.environment.get("ZEUS_TOKEN").value_or("")},
        jobs::this_site(context.clock, context.files).owner, context.clock);
  }
  return jobs::stored_keeper(store_location(context), access, context.clock, context.files);
}

std::string JobsCommand::store_location(const Context& context) const {
  return store_.empty() ? store::default_store(context.environment).string() : store_;
}

int JobsCommand::run(Context& context) {
  check_usage();
  if (job_.empty()) {
    return list(context);
  }
  if (action_ == "export") {
    return export_to(context);
  }
  if (action_ == "import") {
    return import_from(context);
  }
  if (action_ == "redefine") {
    return redefine(context);
  }
  if (action_ == "leave-out") {
    return leave_out(context);
  }
  return action_ == "forget" ? forget(context) : show(context);
}

int JobsCommand::redefine(const Context& context) const {
  const std::unique_ptr<jobs::Keeper> jobs = open(context, Access::existing);
  const std::optional<records::JobDefinition> found = jobs->find(job_);
  if (!found) {
    throw jobs::no_job(job_);
  }
  const records::JobDefinition& known = *found;
  const auto asked = [&] {
    if (!settings_.empty()) {
      return run::changed(
          known, toml::record_from_toml<run::JobSettings>(fmt::format("{}\n", fmt::join(settings_, "\n")), "--set"));
    }
    const run::JobFolders folders = run::job_folders(context.environment, std::filesystem::current_path());
    const run::JobSettings written =
        file_.empty() ? run::find_job(FileTree{}, folders, job_) : run::read_job(FileTree{}, folders, file_, job_);
    if (written.job != job_) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("that file is the job '{}', not '{}'", written.job.value_or(""), job_),
                  "name another with --file, or say what changes as in --set 'eta = 0.7'"};
    }
    return run::definition_by(written, known);
  };
  const std::vector<records::ReportedChange> changes = jobs->redefine(job_, asked());
  if (json_) {
    context.out << records::json_line(protocol::RedefinedJob{.name = job_, .changes = changes}) << '\n';
    return exit_ok;
  }
  if (changes.empty()) {
    context.out << fmt::format("{}: it is already defined like this\n", job_);
  }
  for (const records::ReportedChange& change : changes) {
    context.out << fmt::format("{}: {} is {} (it was {}): {}\n", job_, change.key, change.now, change.was,
                               change.follows);
  }
  return exit_ok;
}

int JobsCommand::list(const Context& context) const {
  // A user who has run no job has no store; that is not an error.
  std::error_code unknown;
  const std::string location = store_location(context);
  const bool none =
      store_.empty() && server(context).empty() && !std::filesystem::exists(location, unknown) && !unknown;
  const std::unique_ptr<jobs::Keeper> jobs =
      none ? jobs::empty_keeper(location, context.clock, context.files) : open(context, Access::read_only);
  int code = exit_ok;
  // A job that cannot be read does not keep the others from being shown.
  const std::vector<records::JobSummary> all = jobs->summaries([&](const std::string& name, const Error& error) {
    context.err << fmt::format("zeus jobs: '{}' is left out: {}\n", name, error.what());
    code = exit_failure;
  });
  if (all.empty() && code != exit_ok && !json_) {
    return code;
  }
  const std::string shown = jobs->location();
  context.out << (json_ ? jobs_json(shown, all)
                        : jobs_text(shown, all, command_line::colour_on_output(color_, context.environment)));
  return code;
}

int JobsCommand::show(const Context& context) const {
  const records::EnergyRates rates = rates_.rates();
  std::optional<OutputFile> page;
  if (!html_.empty()) {
    page.emplace(html_, context.out);
  }
  const records::JobView view = open(context, Access::read_only)->view(job_);
  if (page) {
    report::JobReportOptions shown;
    shown.price = rates.price;
    shown.carbon = rates.carbon.value_or(shown.carbon);
    page->write(report::job_report(view, shown));
    return exit_ok;
  }
  context.out << (json_ ? to_json(view) + "\n"
                        : job_text(view, all_, command_line::colour_on_output(color_, context.environment), rates));
  return exit_ok;
}

int JobsCommand::export_to(const Context& context) const {
  const OutputFile file{file_.empty() ? "-" : file_, context.out, Readers::owner};
  file.write(open(context, Access::read_only)->exported(job_));
  return exit_ok;
}

int JobsCommand::import_from(const Context& context) const {
  const bool from_input = file_.empty() || file_ == "-";
  const std::string text = read_input_file(from_input ? "/dev/stdin" : file_);
  const std::unique_ptr<jobs::Keeper> jobs = open(context, Access::create);
  const std::uint64_t entries =
      about_file(from_input ? "standard input" : file_, [&] { return jobs->import(job_, text); });
  context.out << (json_ ? import_json(job_, entries) : fmt::format("{}: {} entries taken in\n", job_, entries));
  return exit_ok;
}

int JobsCommand::forget(const Context& context) const {
  const std::unique_ptr<jobs::Keeper> jobs = open(context, Access::existing);
  if (!jobs->has(job_)) {
    throw jobs::no_job(job_);
  }
  if (!yes_ && !agreed(context, action_, fmt::format("Forget '{}' and all that was learned from its runs?", job_))) {
    context.err << fmt::format("zeus: '{}' is kept\n", job_);
    return exit_failure;
  }
  jobs->forget(job_);
  context.out << fmt::format("{}: forgotten\n", job_);
  return exit_ok;
}

int JobsCommand::leave_out(const Context& context) const {
  const std::unique_ptr<jobs::Keeper> jobs = open(context, Access::existing);
  if (!yes_ && !agreed(context, action_,
                       fmt::format("Leave recurrence {} of '{}' out of all sums and of all that is learned, for good?",
                                   *recurrence_, job_))) {
    context.err << fmt::format("zeus: recurrence {} of '{}' counts as before\n", *recurrence_, job_);
    return exit_failure;
  }
  jobs->leave_out(job_, *recurrence_, reason_.empty() ? "it was left out by hand" : reason_);
  context.out << fmt::format("{}: recurrence {} is left out\n", job_, *recurrence_);
  return exit_ok;
}

}  // namespace zeus::cli
