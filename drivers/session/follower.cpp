#include "drivers/session/follower.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

namespace zeus::drivers {

namespace {

constexpr double least_speed = 0.01;
constexpr Seconds shortest_pause{0.001};
// The most run time that is later granted to a group that could not run.
constexpr Seconds most_owed{0.1};

constexpr std::size_t most_watched = 4096;

// Fills `into`; false if the other end is closed before that.
bool read_all(int file, std::span<pid_t> into) {
  std::span<std::byte> rest = std::as_writable_bytes(into);
  while (!rest.empty()) {
    const ssize_t size = ::read(file, rest.data(), rest.size());
    if (size == 0 || (size < 0 && errno != EINTR)) {
      return false;
    }
    rest = rest.subspan(size < 0 ? 0 : static_cast<std::size_t>(size));
  }
  return true;
}

// All that the guard does: it keeps the latest list of groups, waits for the end of its parent, and continues them.
[[noreturn]] void continue_at_the_end(int lifeline) {
  std::array<pid_t, most_watched> groups{};
  std::array<pid_t, 1> announced{};
  std::size_t count = 0;
  while (read_all(lifeline, announced)) {
    count = static_cast<std::size_t>(announced.front());
    if (!read_all(lifeline, std::span{groups}.first(count))) {
      break;
    }
  }
  for (const pid_t group : std::span{groups}.first(count)) {
    ::kill(-group, SIGCONT);
  }
  ::_exit(0);
}

}  // namespace

Follower::Step Follower::step(Instant now, double speed) {
  const Seconds passed = now - last_;
  last_ = now;
  ahead_ += passed * ((running_ ? 1.0 : 0.0) - former_speed_);
  ahead_ = std::max(ahead_, -most_owed);
  former_speed_ = std::clamp(speed, least_speed, 1.0);
  if (running_ ? ahead_ >= slack : ahead_ <= Seconds{0}) {
    running_ = !running_;
  }
  const double drift = running_ ? 1.0 - former_speed_ : former_speed_;
  const Seconds way = running_ ? slack - ahead_ : ahead_;
  const Seconds pause = drift > 0.0 ? way / drift : longest_pause;
  return {.run = running_, .pause = std::clamp(pause, shortest_pause, longest_pause)};
}

ContinueGuard::ContinueGuard() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  const FileDescriptor other{ends[0]};
  lifeline_ = FileDescriptor{ends[1]};
  process_ = ::fork();
  if (process_ < 0) {
    throw system_failure(errno, "cannot start a process");
  }
  if (process_ == 0) {
    // In a session of its own, so that no signal of the terminal reaches it.
    ::setsid();
    lifeline_.close();
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGQUIT}) {
      (void)::signal(signal, SIG_IGN);
    }
    continue_at_the_end(ends[0]);
  }
}

void ContinueGuard::watch(std::span<const pid_t> groups) {
  const std::span<const pid_t> watched = groups.first(std::min(groups.size(), most_watched));
  std::vector<pid_t> message{static_cast<pid_t>(watched.size())};
  message.insert(message.end(), watched.begin(), watched.end());
  std::span<const std::byte> rest = std::as_bytes(std::span{message});
  while (!rest.empty()) {
    const ssize_t size = ::write(lifeline_.get(), rest.data(), rest.size());
    if (size < 0 && errno != EINTR) {
      return;
    }
    rest = rest.subspan(size < 0 ? 0 : static_cast<std::size_t>(size));
  }
}

ContinueGuard::~ContinueGuard() {
  lifeline_.close();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace zeus::drivers
