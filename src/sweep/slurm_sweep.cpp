#include "sweep/slurm_sweep.hpp"

#include "base/file_tree.hpp"
#include "base/printable.hpp"
#include "base/random_id.hpp"
#include "records/json_reader.hpp"
#include "sweep/command_filling.hpp"
#include "sweep/host_protocol.hpp"
#include "sweep/host_run.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

namespace zeus::sweep {

namespace {

// Slurm's default for the largest index of an array is 1000.
constexpr std::uint64_t most_of_an_array = 1000;
constexpr int look_ms = 1000;
// How often in turn a task may be missing before it counts as gone: a folder that nodes share shows files late.
constexpr int most_missed = 3;

std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char letter : word) {
    quoted += letter == '\'' ? std::string{R"('\'')"} : std::string{letter};
  }
  return quoted + '\'';
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return "";
  }
  return printable(shortened(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1), 300));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

bool succeeded(const GroupCommandEnd& end) {
  return end.how == GroupCommandEnd::How::exited && end.code == 0;
}

}  // namespace

SlurmSweep::SlurmSweep(SlurmOptions options, const Environment& environment, Clock& clock, SweepListener& listener)
    : options_{std::move(options)},
      environment_{environment},
      clock_{clock},
      listener_{listener},
      book_{options_.folder, listener, options_.wait_for_entries} {
  options_.folder = std::filesystem::absolute(options_.folder);
}

std::filesystem::path SlurmSweep::folder_of(const ArrayStarted& array) const {
  return options_.folder / "slurm" / array.name;
}

GroupCommandEnd SlurmSweep::ask(std::vector<std::string> words) const {
  return run_to_end({.words = std::move(words),
                     .environment = environment_,
                     .patience = Seconds{120},
                     .most = std::size_t{64} << 20});
}

// Runs of other engines ended with the process that had started them. An array of which nothing can be seen was not
// submitted, because the process was killed just before.
void SlurmSweep::take_up_the_past() {
  for (const KnownRun& known : book_.content().runs) {  // an end adds none
    if (known.ended) {
      continue;
    }
    if (book_.content().array_of(known.started.run) == nullptr) {
      end_as_lost(known.started.run, "the sweep ended before it did");
    } else {
      open_.insert(known.started.run);
    }
  }
  if (open_.empty()) {
    return;
  }
  const std::optional<std::set<std::uint64_t>> there = runs_in_slurm();
  if (!there) {
    throw Error{ErrorKind::unavailable, "squeue does not answer, and the sweep has runs in Slurm",
                "try again when `squeue` works here"};
  }
  for (const ArrayStarted& array : std::vector<ArrayStarted>{book_.content().arrays}) {
    if (open_.contains(array.run) && !there->contains(array.run) && !has_traces(array)) {
      submit(array);
    }
  }
}

// Of a submission, or of a task.
bool SlurmSweep::has_traces(const ArrayStarted& array) const {
  return std::ranges::any_of(FileTree{}.list(folder_of(array).string()), [](const std::string& name) {
    return name == "job" || name.ends_with(".end") || name.ends_with(".log");
  });
}

const KnownEntry* SlurmSweep::next_entry() {
  const std::vector<KnownEntry>& entries = book_.content().entries;
  while (first_unfinished_ < entries.size() &&
         (entries[first_unfinished_].taken.broadcast ||
          entries[first_unfinished_].next_task >= entries[first_unfinished_].tasks)) {
    ++first_unfinished_;
  }
  return first_unfinished_ < entries.size() ? &entries[first_unfinished_] : nullptr;
}

bool SlurmSweep::submit_next() {
  const auto check = [](const QueueEntry& entry) {
    check_settings(entry);
    const std::size_t per_command = task_count(entry) / entry.commands.size();
    for (std::size_t command = 0; command < entry.commands.size(); ++command) {
      const Task task = task_at(entry, command * per_command);
      (void)filled(task.command, task.parameters);
    }
  };
  const KnownEntry* entry = next_entry();
  if (entry == nullptr) {
    return book_.take_entry(false, check);
  }
  const QueueEntry& content = entry->taken.content;
  ArrayStarted array{.run = book_.next_run(),
                     .entry = entry->taken.entry,
                     .task = entry->next_task,
                     .count = 0,
                     .name = "zeus-sweep-" + random_id(),
                     .at = static_cast<double>(clock_.wall().microseconds_since_epoch) * 1e-6};
  const int slots = task_at(content, array.task).slots;
  while (array.count < most_of_an_array && array.task + array.count < entry->tasks &&
         task_at(content, array.task + array.count).slots == slots) {
    ++array.count;
  }
  book_.begin(array);
  for (std::uint64_t i = 0; i < array.count; ++i) {
    open_.insert(array.run + i);
  }
  submit(array);
  return true;
}

void SlurmSweep::submit(const ArrayStarted& array) {
  const QueueEntry entry = book_.content().entries[array.entry - 1].taken.content;
  const std::filesystem::path folder = folder_of(array);
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(options_.folder / "output");
  for (std::uint64_t i = 0; i < array.count; ++i) {
    const Task task = task_at(entry, array.task + i);
    RunOrder order =
        order_for(entry.settings, task, filled(task.command, task.parameters), array.name, options_.version);
    order.output = (options_.folder / "output" / fmt::format("{:06}.log", array.run + i)).string();
    FileTree{}.write_durably(order_file(folder, i).string(), order_line(order), Readers::everyone);
  }
  FileTree{}.write_durably((folder / "script").string(),
                           fmt::format("#!/bin/sh\nexec {} sweep run --task {}\n",
                                       shell_quoted(options_.program.string()), shell_quoted(folder.string())),
                           Readers::everyone);
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 "--job-name=" + array.name,
                                 fmt::format("--array=0-{}", array.count - 1),
                                 fmt::format("--output={}/%a.log", folder.string()),
                                 fmt::format("--cpus-per-task={}", task_at(entry, array.task).slots)};
  if (entry.settings.gpus > 0) {
    words.push_back(fmt::format("--gres=gpu:{}", entry.settings.gpus));
  }
  words.push_back((folder / "script").string());
  const GroupCommandEnd end = ask(std::move(words));
  if (succeeded(end)) {
    FileTree{}.write_durably((folder / "job").string(), end.output, Readers::everyone);
    return;
  }
  const std::string why = end.how == GroupCommandEnd::How::not_started ? "the program sbatch cannot be started"
                                                                       : "sbatch refuses: " + trimmed(end.errors);
  for (std::uint64_t i = 0; i < array.count; ++i) {
    open_.erase(array.run + i);
    book_.end({.run = array.run + i, .outcome = Outcome::failed, .why = why, .figures = {}});
  }
  throw Error{ErrorKind::unavailable, why,
              "what an administrator requires, as a partition, is set by variables such as SBATCH_PARTITION"};
}

void SlurmSweep::collect() {
  constexpr records::JsonForm form{.refusal = "this is not the end of a run", .newer = true};
  for (const ArrayStarted& array : std::vector<ArrayStarted>{book_.content().arrays}) {
    const auto first_open = open_.lower_bound(array.run);
    if (first_open == open_.end() || *first_open >= array.run + array.count) {
      continue;
    }
    for (const std::string& name : FileTree{}.list(folder_of(array).string())) {
      const std::optional<std::uint64_t> number =
          name.ends_with(".end") ? number_in(std::string_view{name}.substr(0, name.size() - 4)) : std::nullopt;
      if (!number || *number >= array.count || open_.erase(array.run + *number) == 0) {
        continue;
      }
      const std::string file = end_file(folder_of(array), *number).string();
      RunEnded end{.run = array.run + *number, .outcome = Outcome::lost, .why = "", .figures = {}};
      try {
        const auto ended = records::record_from_json<Ended>(FileTree{}.read(file).value_or(""), form);
        end.figures = ended.figures;
        judge(ended, end);
      } catch (const Error& error) {
        end.why = error.what();
      }
      book_.end(end);
    }
  }
}

std::optional<std::set<std::uint64_t>> SlurmSweep::runs_in_slurm() const {
  std::map<std::string, std::uint64_t, std::less<>> first_of;
  std::string names;
  for (const ArrayStarted& array : book_.content().arrays) {
    const auto first_open = open_.lower_bound(array.run);
    if (first_open != open_.end() && *first_open < array.run + array.count) {
      first_of.emplace(array.name, array.run);
      names += (names.empty() ? "" : ",") + array.name;
    }
  }
  const GroupCommandEnd end = ask({"squeue", "--noheader", "--array", "--name=" + names, "--format=%j|%K"});
  if (!succeeded(end)) {
    return std::nullopt;
  }
  std::set<std::uint64_t> runs;
  for (const std::string_view line : lines_of(end.output)) {
    const std::size_t bar = line.find('|');
    const auto array = first_of.find(line.substr(0, bar));
    if (bar == std::string_view::npos || array == first_of.end()) {
      continue;
    }
    std::string_view index = line.substr(bar + 1);
    index = index.substr(0, index.find(' '));
    if (const std::optional<std::uint64_t> number = number_in(index)) {
      runs.insert(array->second + *number);
    }
  }
  return runs;
}

void SlurmSweep::look_for_lost() {
  const std::optional<std::set<std::uint64_t>> there = runs_in_slurm();
  if (!there) {
    if (!std::exchange(is_silent_, true)) {
      listener_.warn("squeue does not answer; it is asked again, and no run counts as lost meanwhile");
    }
    return;
  }
  is_silent_ = false;
  for (const std::uint64_t run : std::set<std::uint64_t>{open_}) {
    if (there->contains(run)) {
      missed_.erase(run);
    } else if (++missed_[run] >= most_missed) {
      find_out(run);
    }
  }
}

// Slurm has no such task any more, and it wrote no end.
void SlurmSweep::find_out(std::uint64_t run) {
  const ArrayStarted& array = *book_.content().array_of(run);
  const std::string task = fmt::format("_{}", run - array.run);
  std::string state;
  const GroupCommandEnd end =
      ask({"sacct", "--noheader", "--parsable2", "--allocations", "--name=" + array.name, "--format=JobID,State"});
  for (const std::string_view line : lines_of(succeeded(end) ? end.output : "")) {
    const std::size_t bar = line.find('|');
    if (bar != std::string_view::npos && line.substr(0, bar).ends_with(task)) {
      state = printable(line.substr(bar + 1));
    }
  }
  if (state.starts_with("PENDING") || state.starts_with("RUNNING") || state.starts_with("COMPLETING")) {
    missed_.erase(run);
    return;
  }
  const std::string log = (folder_of(array) / fmt::format("{}.log", run - array.run)).string();
  const std::string said = trimmed(FileTree{}.read(log).value_or(""));
  end_as_lost(run,
              fmt::format("Slurm has it no longer{}, and it left no end{}",
                          state.empty() ? "" : fmt::format(" (it says {})", state), said.empty() ? "" : ": " + said));
}

void SlurmSweep::end_as_lost(std::uint64_t run, const std::string& why) {
  open_.erase(run);
  missed_.erase(run);
  book_.end({.run = run, .outcome = Outcome::lost, .why = why, .figures = {}});
}

bool SlurmSweep::run(const FileDescriptor& signals) {
  take_up_the_past();
  while (true) {
    while (submit_next()) {
    }
    collect();
    book_.show_progress(open_.size(), 0);
    if (open_.empty() && !options_.wait_for_entries && !book_.queue_is_locked()) {
      return book_.all_done();
    }
    if (!open_.empty()) {
      look_for_lost();
    }
    pollfd waited{.fd = signals.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, look_ms) > 0) {
      listener_.warn(
          fmt::format("{} runs stay in Slurm; start the same command again to collect what they give", open_.size()));
      return false;
    }
  }
}

}  // namespace zeus::sweep
