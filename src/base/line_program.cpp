#include "base/line_program.hpp"

#include "base/no_pipe_signal.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace zeus {

namespace {

constexpr Seconds to_end{0.5};
// More than a line, so that one that is too long is seen to be.
constexpr std::size_t most_printed = 2 * LineProgram::longest_line;

}  // namespace

LineProgram::LineProgram(const std::string& command, const Environment& environment)
    : child_{{.words = {"/bin/sh", "-c", command}, .environment = environment, .input = true}} {
  if (child_.why_not() != 0) {
    throw system_failure(child_.why_not(), "cannot run /bin/sh");
  }
}

LineProgram::~LineProgram() {
  child_.input().close();
  pollfd ended{.fd = child_.ended().get(), .events = POLLIN, .revents = 0};
  const PollDeadline deadline = deadline_after(to_end);
  while (ended.fd >= 0 && ::poll(&ended, 1, milliseconds_until(deadline)) < 0 && errno == EINTR) {
  }
}

void LineProgram::read_some() {
  std::array<char, 16'384> buffer{};
  const ssize_t count = ::read(child_.output().get(), buffer.data(), buffer.size());
  if (count > 0) {
    printed_.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    closed_ = true;
  }
}

bool LineProgram::wait(bool to_write, PollDeadline deadline) {
  while (true) {
    std::array<pollfd, 2> asked{{{.fd = to_write ? child_.input().get() : -1, .events = POLLOUT, .revents = 0},
                                 {.fd = closed_ || printed_.size() >= most_printed ? -1 : child_.output().get(),
                                  .events = POLLIN,
                                  .revents = 0}}};
    const int ready = ::poll(asked.data(), asked.size(), milliseconds_until(deadline));
    if (ready > 0) {
      if (asked[1].revents != 0) {
        read_some();
      }
      return true;
    }
    if (is_over(deadline)) {
      return false;
    }
  }
}

LineProgram::Outcome LineProgram::write(std::string_view line, Seconds patience) {
  const NoPipeSignal no_signal;
  const std::string whole = fmt::format("{}\n", line);
  const PollDeadline deadline = deadline_after(patience);
  std::size_t written = 0;
  while (written < whole.size()) {
    const ssize_t count = ::write(child_.input().get(), whole.data() + written, whole.size() - written);
    if (count > 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      return Outcome::ended;
    } else if (!wait(true, deadline)) {
      return Outcome::timed_out;
    }
  }
  return Outcome::done;
}

LineProgram::Outcome LineProgram::read(std::string& line, Seconds patience) {
  const PollDeadline deadline = deadline_after(patience);
  while (true) {
    const std::size_t end = printed_.find('\n');
    if (std::min(end, printed_.size()) > longest_line) {
      return Outcome::too_long;
    }
    if (end != std::string::npos) {
      line = printed_.substr(0, end);
      printed_.erase(0, end + 1);
      return Outcome::done;
    }
    if (closed_) {
      return Outcome::ended;
    }
    if (!wait(false, deadline)) {
      return Outcome::timed_out;
    }
  }
}

bool LineProgram::has_more() {
  if (!closed_ && printed_.empty()) {
    read_some();
  }
  return !printed_.empty();
}

std::string LineProgram::why_ended() {
  if (!end_.empty()) {
    return end_;
  }
  pollfd ended{.fd = child_.ended().get(), .events = POLLIN, .revents = 0};
  const PollDeadline deadline = deadline_after(to_end);
  int ready = 0;
  while ((ready = ::poll(&ended, 1, milliseconds_until(deadline))) < 0 && errno == EINTR) {
  }
  if (ready == 0) {
    return closed_ ? "closed its output" : "closed its input";
  }
  const siginfo_t how = child_.collect();
  end_ = how.si_code == CLD_EXITED ? fmt::format("ended with exit code {}", how.si_status)
                                   : fmt::format("was ended by signal {}", how.si_status);
  return end_;
}

}  // namespace zeus
