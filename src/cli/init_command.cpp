#include "cli/init_command.hpp"

#include "base/amount_text.hpp"
#include "base/child_process.hpp"
#include "base/file_tree.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "jobs/job.hpp"
#include "run/job_draft.hpp"
#include "run/job_file.hpp"
#include "run/output_study.hpp"
#include "run/run_texts.hpp"
#include "run/watched_command.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace zeus::cli {

namespace {

namespace fs = std::filesystem;

// The name of a job for which the user gave none: that of its script, or else of its program.
std::string name_for(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    const fs::path path{word};
    const bool is_a_script = word.find_first_of(" \t\n") != std::string::npos;  // of a shell's -c
    if (!is_a_script && !word.starts_with('-') && (path.extension() == ".py" || path.extension() == ".sh")) {
      return path.stem().string();
    }
  }
  return fs::path{command.front()}.stem().string();
}

// Before the command runs: what is written after it must be a job file that `zeus run` takes.
void check_draft(const std::vector<std::string>& command, const std::string& name, const std::string& path) {
  if (name.empty() || name.size() > jobs::longest_job_name || printable(name) != name || name.starts_with('@') ||
      name == "." || name == "..") {
    throw BadUsage{
        fmt::format("{} cannot be the name of a job", in_quotes(name)),
        fmt::format("choose one of 1 to {} printable characters that does not begin with @", jobs::longest_job_name)};
  }
  const run::WatchedRun nothing_seen{.command = command, .name = name, .time = {}, .reports = false, .proposal = {}};
  try {
    (void)run::job_from_toml(run::job_draft(nothing_seen, run::Suggestions::to_uncomment), path);
  } catch (const Error& error) {
    throw BadUsage{fmt::format("this command cannot be written into a job file: {}", error.message()),
                   "its words have to be UTF-8"};
  }
}

// The command's output passes through unchanged; a copy of it is studied.
struct Watched {
  int exit_code = 0;
  std::optional<std::string> why_not_run;
  run::WatchedRun run;
};

Watched watch(const std::vector<std::string>& command, const std::string& name, Context& context) {
  run::OutputStudy study;
  const Instant began = context.clock.now();
  run::WatchedCommand watched{
      {.command = command,
       .environment = context.environment,
       .variables = {},
       .patterns = {},
       .overheard = [&](std::size_t stream, std::string_view bytes) { study.hear(stream, bytes); }},
      context.clock};
  constexpr Seconds patience{60};
  while (!watched.exit_code()) {
    (void)watched.wait(patience);
  }
  study.finish();
  return {.exit_code = *watched.exit_code(),
          .why_not_run = watched.why_not_run(),
          .run = {.command = command,
                  .name = name,
                  .time = context.clock.now() - began,
                  .reports = watched.seen().reports > 0,
                  .proposal = study.propose()}};
}

}  // namespace

void InitCommand::declare(Options& options) {
  options.example("zeus init nightly -- python train.py", "runs it once, and writes nightly.toml by what it prints");
  options.example("zeus init nightly --accept -- python train.py -b 64",
                  "the same, with the batch size chosen as well");
  options.footer(
      "zeus init [NAME] -- CMD ... runs CMD once, as it is, and writes NAME.toml: which lines have the metric,\n"
      "epochs and steps, each explained. `zeus run @NAME` then runs it. Exits with the command's code, 125 on a\n"
      "failure of its own, 126 when the command cannot be executed, 127 when it is not found.");
  options.add_option("NAME", job_, "What the job is called").with_default("as the script is");
  options.after_dashes(command_);
  options.add_option("--file", file_, "Where to write it").path().with_default("NAME.toml here");
  options.add_flag("--accept", accept_, "Take the batch sizes and the target that it suggests");
  options.add_flag("--force", force_, "Replace the file that is there");
}

int InitCommand::failure_code() const {
  return ChildProcess::exit_own_failure;
}

int InitCommand::run(Context& context) {
  if (command_.empty()) {
    throw BadUsage{"there is no command to watch",
                   "give it after two dashes, as in `zeus init nightly -- python train.py`"};
  }
  const std::string name = job_.empty() ? name_for(command_) : job_;
  const std::string path = file_.empty() ? name + ".toml" : file_;
  const bool exists = fs::exists(path);
  if (exists && !force_) {
    throw Error{ErrorKind::already_exists, fmt::format("{} already exists", path),
                "--force replaces it, --file names another, or run it with `zeus run`"};
  }
  if (accept_ && !run::batch_size_place(command_)) {
    throw BadUsage{"--accept finds no batch size in the command",
                   "give it as a flag, as in `train.py --batch-size 64`, or leave --accept out and edit the file"};
  }
  check_draft(command_, name, path);
  const OutputFile file{path, context.out};
  const Watched watched = watch(command_, name, context);
  if (watched.exit_code != 0) {
    context.err << fmt::format(
        "zeus: {}; nothing was written\n",
        watched.why_not_run.value_or(fmt::format("the command ended with exit code {}", watched.exit_code)));
    return watched.exit_code;
  }
  const std::optional<std::string> refused = accept_ ? run::why_nothing_to_accept(watched.run) : std::nullopt;
  const bool accepted = accept_ && !refused;
  const std::string draft =
      run::job_draft(watched.run, accepted ? run::Suggestions::accepted : run::Suggestions::to_uncomment);
  try {
    file.write(draft);
  } catch (const Error&) {
    context.err << draft;  // it would take another training to make it again
    throw;
  }
  const std::string how = file_.empty() ? "@" + shell_word(name) : "--file " + shell_word(file_);
  context.err << fmt::format("\nzeus: {} says what was seen in {} lines and {}\n\n{}\n", path,
                             watched.run.proposal.lines, to_text(watched.run.time), run::draft_summary(watched.run))
              << fmt::format("  Next: look at {}, then `zeus run {}`, each time that it is to run.\n", path, how);
  if (refused) {
    throw Error{ErrorKind::not_found, fmt::format("--accept took nothing: {}", *refused),
                fmt::format("{} is written as a draft; fill it in, or run it for its power limit alone", path)};
  }
  return exit_ok;
}

}  // namespace zeus::cli
