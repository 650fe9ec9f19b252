#include "sweep/slurm_sweep.hpp"

#include "base/file_tree.hpp"
#include "base/printable.hpp"
#include "base/random_id.hpp"
#include "base/shell_word.hpp"
#include "records/json_reader.hpp"
#include "sweep/command_filling.hpp"
#include "sweep/host_protocol.hpp"
#include "sweep/host_run.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

namespace zeus::sweep {

namespace {

// Slurm's default for the largest index of an array is 1000.
constexpr std::uint64_t most_of_an_array = 1000;
constexpr int look_ms = 1000;
// Slurm's controller serves everybody, so it is asked less often than the folder is looked at.
constexpr Seconds between_questions{10};
// A question is asked again later. What sbatch was asked to do may happen all the same after we have given it up.
constexpr Seconds longest_answer{20};
constexpr Seconds longest_submission{120};
// How often in turn a task may be missing before it counts as gone: a folder that nodes share shows files late.
constexpr int most_missed = 2;
// The clocks of this machine and of Slurm's may differ.
constexpr double most_clock_difference = 3600.0;

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

// As `--array` takes them: "0-3,5".
std::string ranges_of(const std::set<std::uint64_t>& numbers) {
  std::string text;
  for (auto number = numbers.begin(); number != numbers.end();) {
    const std::uint64_t first = *number;
    std::uint64_t last = first;
    while (++number != numbers.end() && *number == last + 1) {
      last = *number;
    }
    text += (text.empty() ? "" : ",") + (first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  }
  return text;
}

// As sacct takes it, in the time zone of both.
std::string local_time(double seconds_since_1970) {
  const auto seconds = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  std::array<char, 32> text{};
  ::localtime_r(&seconds, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts)};
}

std::string why_refused(const GroupCommandEnd& end) {
  switch (end.how) {
    case GroupCommandEnd::How::not_started:
      return "the program sbatch cannot be started";
    case GroupCommandEnd::How::timed_out:
      return "sbatch does not answer, and may have taken the job all the same";
    case GroupCommandEnd::How::killed:
      return fmt::format("sbatch was ended by signal {}", end.code);
    case GroupCommandEnd::How::exited:
      break;
  }
  return "sbatch refuses: " + trimmed(end.errors);
}

bool any_signal(const FileDescriptor& signals, int patience_ms) {
  pollfd waited{.fd = signals.get(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, patience_ms) > 0;
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

GroupCommandEnd SlurmSweep::ask(std::vector<std::string> words, Seconds patience) const {
  return run_to_end(
      {.words = std::move(words), .environment = environment_, .patience = patience, .most = std::size_t{64} << 20});
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
    const auto first = there->lower_bound(array.run);
    const bool is_there = first != there->end() && *first < array.run + array.count;
    const auto open = open_.lower_bound(array.run);
    if (open != open_.end() && *open < array.run + array.count && !is_there && !has_traces(array)) {
      open_.erase(open, open_.lower_bound(array.run + array.count));
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
    for (const ParameterList& list : entry.parameters) {
      if (list.name == "slots") {
        std::ranges::for_each(list.values, [](const std::string& value) { (void)parse_slots(value); });
      }
    }
  };
  const KnownEntry* entry = next_entry();
  if (entry == nullptr) {
    return book_.take_entry(std::nullopt, check);
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
  submit(array);
  return true;
}

// Writes the orders of the array's runs that have no end, and ends those that cannot be ordered; returns the tasks of
// the others.
std::set<std::uint64_t> SlurmSweep::write_orders(const ArrayStarted& array) {
  const QueueEntry entry = book_.content().entries[array.entry - 1].taken.content;
  const std::filesystem::path folder = folder_of(array);
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(options_.folder / "output");
  std::set<std::uint64_t> tasks;
  for (std::uint64_t i = 0; i < array.count; ++i) {
    if (book_.content().runs[array.run + i - 1].ended) {
      continue;
    }
    std::string line;
    std::string why;
    try {
      const Task task = task_at(entry, array.task + i);
      RunOrder order =
          order_for(entry.settings, task, filled(task.command, task.parameters), array.name, options_.version);
      order.output = (options_.folder / "output" / fmt::format("{:06}.log", array.run + i)).string();
      line = order_line(order);
    } catch (const Error& error) {
      why = error.what();
    }
    if (!why.empty()) {
      book_.end({.run = array.run + i, .outcome = Outcome::failed, .why = why, .figures = {}});
      continue;
    }
    FileTree{}.write_durably(order_file(folder, i).string(), line, Readers::everyone);
    tasks.insert(i);
  }
  return tasks;
}

void SlurmSweep::submit(const ArrayStarted& array) {
  const std::set<std::uint64_t> tasks = write_orders(array);
  if (tasks.empty()) {
    return;
  }
  const QueueEntry& entry = book_.content().entries[array.entry - 1].taken.content;
  const std::filesystem::path folder = folder_of(array);
  FileTree{}.write_durably((folder / "script").string(),
                           fmt::format("#!/bin/sh\nexec {} sweep run --task {}\n",
                                       shell_quoted(options_.program.string()), shell_quoted(folder.string())),
                           Readers::everyone);
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 "--job-name=" + array.name,
                                 "--array=" + ranges_of(tasks),
                                 fmt::format("--output={}/%a.log", folder.string()),
                                 fmt::format("--cpus-per-task={}", task_at(entry, array.task).slots)};
  if (entry.settings.gpus > 0) {
    words.push_back(fmt::format("--gres=gpu:{}", entry.settings.gpus));
  }
  words.push_back((folder / "script").string());
  const GroupCommandEnd end = ask(std::move(words), longest_submission);
  if (succeeded(end)) {
    for (const std::uint64_t task : tasks) {
      open_.insert(array.run + task);
    }
    FileTree{}.write_durably((folder / "job").string(), end.output, Readers::everyone);
    is_refused_ = false;
    return;
  }
  const std::string why = why_refused(end);
  // A limit of Slurm may leave room for these runs once others have ended.
  if (end.how != GroupCommandEnd::How::exited || open_.empty()) {
    throw Error{ErrorKind::unavailable, why,
                "its runs are submitted when the same command is started again; what an administrator requires, as a "
                "partition, is set by variables such as SBATCH_PARTITION"};
  }
  if (!std::exchange(is_refused_, true)) {
    listener_.warn(why + "; it is tried again when runs have ended");
  }
  refused_ = array;
  open_at_refusal_ = open_.size();
}

void SlurmSweep::submit_refused() {
  if (refused_ && open_.size() < open_at_refusal_) {
    const ArrayStarted array = *std::exchange(refused_, std::nullopt);
    submit(array);
  }
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
  const GroupCommandEnd end =
      ask({"squeue", "--noheader", "--array", "--name=" + names, "--format=%j|%K"}, longest_answer);
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
  std::map<const ArrayStarted*, std::vector<std::uint64_t>> gone;
  for (const std::uint64_t run : open_) {
    if (there->contains(run)) {
      missed_.erase(run);
    } else if (++missed_[run] >= most_missed) {
      gone[book_.content().array_of(run)].push_back(run);
    }
  }
  for (const auto& [array, runs] : gone) {
    const std::map<std::uint64_t, std::string> states = states_of(*array);
    for (const std::uint64_t run : runs) {
      const auto state = states.find(run - array->run);
      find_out(*array, run, state != states.end() ? state->second : "");
    }
  }
}

// By task, as Slurm's accounting has them; nothing where there is none.
std::map<std::uint64_t, std::string> SlurmSweep::states_of(const ArrayStarted& array) const {
  std::map<std::uint64_t, std::string> states;
  const GroupCommandEnd end =
      ask({"sacct", "--noheader", "--parsable2", "--allocations", "--name=" + array.name,
           "--starttime=" + local_time(array.at - most_clock_difference), "--format=JobID,State"},
          longest_answer);
  for (const std::string_view line : lines_of(succeeded(end) ? end.output : "")) {
    const std::size_t bar = line.find('|');
    const std::string_view job = line.substr(0, bar);
    const auto task = number_in(job.substr(job.find('_') + 1));
    if (bar != std::string_view::npos && job.find('_') != std::string_view::npos && task) {
      states.insert_or_assign(*task, printable(line.substr(bar + 1)));
    }
  }
  return states;
}

// Slurm has no such task any more, and it wrote no end.
void SlurmSweep::find_out(const ArrayStarted& array, std::uint64_t run, const std::string& state) {
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
  Instant asked = clock_.now();
  while (true) {
    submit_refused();
    while (!refused_ && !any_signal(signals, 0) && submit_next()) {
    }
    collect();
    book_.show_progress(open_.size(), refused_ ? refused_->count : 0);
    if (open_.empty() && !refused_ && !options_.wait_for_entries && !book_.queue_is_locked()) {
      return book_.all_done();
    }
    if (!open_.empty() && !any_signal(signals, 0) && clock_.now() - asked >= between_questions) {
      look_for_lost();
      asked = clock_.now();
    }
    if (any_signal(signals, look_ms)) {
      listener_.warn(
          fmt::format("{} runs stay in Slurm; start the same command again to collect what they give", open_.size()));
      return false;
    }
  }
}

}  // namespace zeus::sweep
