#include "cli/jobs_command.hpp"

#include "cli/input_file.hpp"
#include "cli/jobs_text.hpp"
#include "cli/options.hpp"
#include "cli/output_file.hpp"
#include "jobs/job.hpp"
#include "jobs/transfer.hpp"
#include "store/open_store.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <vector>

namespace zeus::cli {

using store::Access;

void JobsCommand::declare(Options& options) {
  options.add_option("job", job_, "Only this job");
  options.add_option("action", action_, "What to do with it instead of showing it")
      .among({"export", "import", "forget"})
      .type_name("TEXT:{export,import,forget}");
  options.add_option("--store", store_, "The file that keeps the jobs; the one in your data folder when not given");
  options.add_option("--file", file_,
                     "Where to export to or import from; `-`, the default, is standard output or input");
  options.add_flag("--all", all_, "Show every try, not just the last ones");
  options.add_flag("--json", json_, "Print JSON, on one line");
}

void JobsCommand::check_usage() const {
  const bool moves = action_ == "export" || action_ == "import";
  if (!file_.empty() && !moves) {
    throw Error{ErrorKind::invalid_argument, "--file is for export and import", "leave it out"};
  }
  if (json_ && !action_.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} prints no JSON of its own", action_), "leave out --json"};
  }
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
  return action_ == "forget" ? forget(context) : show(context);
}

int JobsCommand::list(const Context& context) const {
  const std::string location = store_location(context);
  std::vector<records::JobView> views;
  std::error_code unknown;
  // Somebody who has run no job has no store, which is nothing to complain about.
  if (!store_.empty() || std::filesystem::exists(location, unknown)) {
    const auto store = store::open_store(location, Access::read_only);
    const jobs::Site site = jobs::this_site(context.clock, context.files);
    for (const store::StoredJob& stored : store->jobs()) {
      if (std::optional<jobs::Job> job = jobs::Job::find(*store, site, stored.name)) {
        views.push_back(job->view());
      }
    }
  }
  context.out << (json_ ? jobs_json(location, views) : jobs_text(location, views));
  return exit_ok;
}

int JobsCommand::show(const Context& context) const {
  const auto store = store::open_store(store_location(context), Access::read_only);
  std::optional<jobs::Job> job = jobs::Job::find(*store, jobs::this_site(context.clock, context.files), job_);
  if (!job) {
    throw Error{ErrorKind::not_found, fmt::format("there is no job '{}'", job_), "`zeus jobs` lists those there are"};
  }
  const records::JobView view = job->view();
  context.out << (json_ ? to_json(view) + "\n" : job_text(view, all_));
  return exit_ok;
}

int JobsCommand::export_to(const Context& context) const {
  const OutputFile file{file_.empty() ? "-" : file_, context.out, Readers::owner};
  const auto store = store::open_store(store_location(context), Access::read_only);
  file.write(jobs::export_job(*store, job_));
  return exit_ok;
}

int JobsCommand::import_from(const Context& context) const {
  const std::string text = read_input_file(file_.empty() || file_ == "-" ? "/dev/stdin" : file_);
  const auto store = store::open_store(store_location(context), Access::create);
  const store::StoredJob job = jobs::import_job(*store, job_, text, context.clock.wall());
  context.out << fmt::format("{}: {} entries taken in\n", job.name, job.length);
  return exit_ok;
}

int JobsCommand::forget(const Context& context) const {
  const auto store = store::open_store(store_location(context), Access::existing);
  if (!store->forget(job_)) {
    throw Error{ErrorKind::not_found, fmt::format("there is no job '{}'", job_), "`zeus jobs` lists those there are"};
  }
  context.out << fmt::format("{}: forgotten\n", job_);
  return exit_ok;
}

}  // namespace zeus::cli
