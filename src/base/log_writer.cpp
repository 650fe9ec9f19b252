#include "base/log_writer.hpp"

#include "base/background_thread.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace zeus {

namespace {

std::string_view word_of(log::Level level) {
  switch (level) {
    case log::Level::debug:
      return "debug";
    case log::Level::info:
      return "info";
    case log::Level::warning:
      return "warning";
    case log::Level::error:
      break;
  }
  return "error";
}

// Returns what is left if nothing has been read for so long, or there is no reader any more. A pipe that is ready takes
// PIPE_BUF bytes at once; a write of more may wait.
std::string_view write_what_is_read(int descriptor, std::string_view text, Seconds patience) {
  while (!text.empty()) {
    pollfd asked{descriptor, POLLOUT, 0};
    const int ready = ::poll(&asked, 1, static_cast<int>(patience.value() * 1e3));
    if (ready == 0) {
      break;
    }
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    const ssize_t written = ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      break;
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return text;
}

}  // namespace

LogWriter::LogWriter(int descriptor, Form form, Seconds patience)
    : descriptor_{descriptor},
      form_{form ? std::move(form)
                 : [](log::Level level, std::string_view line) { return fmt::format("{}: {}", word_of(level), line); }},
      patience_{patience} {
  log::set_sink([this](log::Level level, std::string_view line) { write(form_(level, line)); });
}

void LogWriter::write(std::string line) {
  line += '\n';
  {
    const std::lock_guard lock{mutex_};
    if (!has_thread_) {
      (void)write_what_is_read(descriptor_, line, patience_);
      return;
    }
    if (lines_.size() >= most_lines) {
      ++dropped_;
      return;
    }
    lines_.push_back(std::move(line));
  }
  changed_.notify_one();
}

void LogWriter::begin_thread() {
  const std::lock_guard lock{mutex_};
  thread_ = background_thread([this] { run(); });
  has_thread_ = true;
}

LogWriter::~LogWriter() {
  log::set_sink({});
  end_thread();
}

void LogWriter::end_thread() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
    has_thread_ = false;
  }
  changed_.notify_one();
  thread_.join();
}

void LogWriter::run() {
  bool is_cut = false;  // the last line that was written
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [&] { return over_ || !lines_.empty(); });
    if (lines_.empty()) {
      return;
    }
    std::string text = is_cut ? "\n" : "";
    for (const std::string& line : std::exchange(lines_, {})) {
      text += line;
    }
    if (const std::uint64_t dropped = std::exchange(dropped_, 0); dropped > 0) {
      text += form_(log::Level::warning,
                    fmt::format("{} lines of the log were dropped because they were not read in time", dropped)) +
              '\n';
    }
    lock.unlock();
    const std::string_view left = write_what_is_read(descriptor_, text, patience_);
    if (left.size() < text.size()) {
      is_cut = text[text.size() - left.size() - 1] != '\n';
    }
    lock.lock();
    dropped_ += static_cast<std::uint64_t>(std::ranges::count(left, '\n'));
    if (!left.empty() && over_) {
      return;
    }
  }
}

}  // namespace zeus
