#include "sweep/ledger.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"
#include "sweep/command_filling.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace zeus::sweep {

namespace {

constexpr std::string_view first_line = R"({"zeus_sweep":1})";
constexpr std::string_view to_restore = "restore the file from a backup, or move it away to begin a new sweep";

Error not_a_ledger(const std::string& name, std::size_t line, std::string_view why) {
  return Error{ErrorKind::corrupt_data, fmt::format("{}:{}: {}", name, line, why), std::string{to_restore}};
}

// The lines that are whole; returns how many bytes they are.
std::size_t read_lines(const std::string& name, std::string_view text, LedgerContent& content) {
  constexpr records::JsonForm form{.refusal = "this is not an event of a sweep", .newer = true};
  std::size_t line = 0;
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', from)) {
    const std::string_view whole = text.substr(from, end - from);
    ++line;
    from = end + 1;
    if (line == 1) {
      if (whole.starts_with(R"({"zeus_sweep":)") && whole != first_line) {
        throw Error{ErrorKind::corrupt_data, fmt::format("{} is of a newer version of Zeus", name),
                    "use that version for this sweep"};
      }
      if (whole != first_line) {
        throw not_a_ledger(name, line, "this is not the ledger of a sweep");
      }
      continue;
    }
    std::string why;
    try {
      content.add(records::record_from_json<LedgerEvent>(whole, form));
      continue;
    } catch (const Error& error) {
      why = error.message();
    }
    throw not_a_ledger(name, line, why);
  }
  return from;
}

std::string process_with(const FileDescriptor& file) {
  struct flock wanted {};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK && wanted.l_pid > 0) {
    const auto holder = find_holder(FileTree{}, wanted.l_pid);
    return holder ? to_text(*holder) : fmt::format("process {}", wanted.l_pid);
  }
  return "another process";
}

}  // namespace

namespace {

Error does_not_fit(std::string_view what) {
  return Error{ErrorKind::corrupt_data, fmt::format("{} that does not fit the lines before it", what)};
}

void add_event(LedgerContent& content, const EntryTaken& taken) {
  if (taken.entry != content.entries.size() + 1) {
    throw does_not_fit("an entry");
  }
  content.entries.push_back({.taken = taken, .tasks = task_count(taken.content)});
}

void add_event(LedgerContent& content, const EntryMoved& moved) {
  if (moved.entry == 0 || moved.entry > content.entries.size()) {
    throw does_not_fit("an entry");
  }
  content.entries[moved.entry - 1].moved = true;
}

void add_event(LedgerContent& content, const RunStarted& started) {
  if (started.run != content.runs.size() + 1 || started.entry == 0 || started.entry > content.entries.size() ||
      started.task >= content.entries[started.entry - 1].tasks) {
    throw does_not_fit("a run");
  }
  KnownEntry& entry = content.entries[started.entry - 1];
  entry.next_task = std::max<std::size_t>(entry.next_task, started.task + 1);
  if (entry.taken.broadcast) {
    entry.begun.emplace(started.task, started.place);
  }
  content.runs.push_back({.started = started, .ended = std::nullopt});
}

// As it stands in the queue if it cannot be filled in; then its run ends as failed.
std::string command_of(const Task& task) {
  try {
    return filled(task.command, task.parameters);
  } catch (const Error&) {
    return task.command;
  }
}

void add_event(LedgerContent& content, const ArrayStarted& array) {
  for (std::uint64_t i = 0; i < array.count; ++i) {
    if (array.entry == 0 || array.entry > content.entries.size() ||
        array.task + i >= content.entries[array.entry - 1].tasks) {
      throw does_not_fit("an array of runs");
    }
    const Task task = task_at(content.entries[array.entry - 1].taken.content, array.task + i);
    add_event(content, RunStarted{.run = array.run + i,
                                  .entry = array.entry,
                                  .task = array.task + i,
                                  .place = std::string{slurm_place},
                                  .host = "",
                                  .command = command_of(task),
                                  .parameters = task.parameters,
                                  .at = array.at});
  }
  content.arrays.push_back(array);
}

void add_event(LedgerContent& content, const RunEnded& ended) {
  if (ended.run == 0 || ended.run > content.runs.size() || content.runs[ended.run - 1].ended) {
    throw does_not_fit("the end of a run");
  }
  KnownRun& run = content.runs[ended.run - 1];
  run.ended = ended;
  run.begun_by_then = content.runs.size();
  if (run.started.host.empty() && !ended.figures.node.empty()) {
    run.started.host = ended.figures.node;
    run.started.place = ended.figures.node;
  }
}

}  // namespace

void LedgerContent::add(const LedgerEvent& event) {
  std::visit([this](const auto& one) { add_event(*this, one); }, event);
}

const ArrayStarted* LedgerContent::array_of(std::uint64_t run) const {
  const auto found = std::ranges::find_if(
      arrays, [run](const ArrayStarted& array) { return run >= array.run && run - array.run < array.count; });
  return found == arrays.end() ? nullptr : &*found;
}

LedgerContent read_ledger(const std::filesystem::path& file) {
  LedgerContent content;
  read_lines(file.string(), FileTree{}.read(std::filesystem::absolute(file).string()).value_or(""), content);
  return content;
}

Ledger::Ledger(const std::filesystem::path& file)
    : name_{file.string()}, file_{::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)} {
  if (!file_) {
    throw system_failure(errno, fmt::format("cannot open the ledger {}", name_));
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file_.get(), F_SETLK, &whole) != 0) {
    if (errno != EACCES && errno != EAGAIN) {
      throw system_failure(errno, fmt::format("cannot lock the ledger {}", name_));
    }
    throw Error{ErrorKind::conflict, fmt::format("{} has the ledger {} open", process_with(file_), name_),
                "wait for that sweep, or add to its queue"};
  }
  // Not through another descriptor: closing that would end the lock.
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (ssize_t count = 1; count > 0;) {
    count = ::read(file_.get(), buffer.data(), buffer.size());
    if (count < 0) {
      throw system_failure(errno, fmt::format("cannot read the ledger {}", name_));
    }
    text.append(buffer, 0, static_cast<std::size_t>(count));
  }
  const std::size_t lines = read_lines(name_, text, content_);
  if (lines < text.size()) {
    cut_ = true;
    if (::ftruncate(file_.get(), static_cast<off_t>(lines)) != 0) {
      throw system_failure(errno, fmt::format("cannot shorten the ledger {}", name_));
    }
  }
  if (lines == 0) {
    write_all(file_, std::string{first_line} + '\n', name_);
    ::fdatasync(file_.get());
  }
}

void Ledger::append(const LedgerEvent& event) {
  const off_t before = ::lseek(file_.get(), 0, SEEK_END);
  try {
    write_all(file_, records::json_line(event) + '\n', name_);
    if (::fdatasync(file_.get()) != 0) {
      throw system_failure(errno, fmt::format("cannot write the ledger {}", name_));
    }
    content_.add(event);
  } catch (const Error&) {
    // A part of a line would make those after it unreadable. If even this fails, the first error says enough.
    (void)(before >= 0 && ::ftruncate(file_.get(), before) == 0);
    throw;
  }
}

}  // namespace zeus::sweep
