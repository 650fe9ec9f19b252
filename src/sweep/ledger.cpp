#include "sweep/ledger.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

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
constexpr std::string_view advice = "restore the file from a backup, or move it away to begin a new sweep";

Error not_a_ledger(const std::string& name, std::size_t line, std::string_view why) {
  return Error{ErrorKind::corrupt_data, fmt::format("{}:{}: {}", name, line, why), std::string{advice}};
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

void LedgerContent::add(const LedgerEvent& event) {
  const auto refuse = [](std::string_view what) {
    return Error{ErrorKind::corrupt_data, fmt::format("{} that does not fit the lines before it", what)};
  };
  if (const auto* taken = std::get_if<EntryTaken>(&event)) {
    if (taken->entry != entries.size() + 1) {
      throw refuse("an entry");
    }
    entries.push_back({.taken = *taken, .tasks = task_count(taken->content)});
  } else if (const auto* moved = std::get_if<EntryMoved>(&event)) {
    if (moved->entry == 0 || moved->entry > entries.size()) {
      throw refuse("an entry");
    }
    entries[moved->entry - 1].moved = true;
  } else if (const auto* started = std::get_if<RunStarted>(&event)) {
    if (started->run != runs.size() + 1 || started->entry == 0 || started->entry > entries.size() ||
        started->task >= entries[started->entry - 1].tasks) {
      throw refuse("a run");
    }
    KnownEntry& entry = entries[started->entry - 1];
    entry.next_task = std::max<std::size_t>(entry.next_task, started->task + 1);
    if (entry.taken.broadcast) {
      entry.begun.emplace(started->task, started->place);
    }
    runs.push_back({.started = *started, .ended = std::nullopt});
  } else if (const auto* ended = std::get_if<RunEnded>(&event)) {
    if (ended->run == 0 || ended->run > runs.size() || runs[ended->run - 1].ended) {
      throw refuse("the end of a run");
    }
    runs[ended->run - 1].ended = *ended;
  }
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
  content_.add(event);
  write_all(file_, records::json_line(event) + '\n', name_);
  if (::fdatasync(file_.get()) != 0) {
    throw system_failure(errno, fmt::format("cannot write the ledger {}", name_));
  }
}

}  // namespace zeus::sweep
