#include "drivers/session/follower.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>

namespace zeus::drivers {

namespace {

constexpr double least_speed = 0.01;
constexpr Seconds shortest_pause{0.001};
// The most run time that is later granted to a group that could not run.
constexpr Seconds most_owed{0.1};

// The guard's whole work: it remembers what it is told, and waits for the end of its parent.
[[noreturn]] void continue_at_the_end(int lifeline) {
  std::array<pid_t, 256> groups{};
  std::size_t count = 0;
  pid_t group = 0;
  ssize_t size = 0;
  while ((size = ::read(lifeline, &group, sizeof group)) != 0) {
    if (size == sizeof group && count < groups.size()) {
      groups.at(count++) = group;
    }
  }
  for (const pid_t known : std::span{groups}.first(count)) {
    ::kill(-known, SIGCONT);
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

void ContinueGuard::watch(pid_t group) {
  (void)!::write(lifeline_.get(), &group, sizeof group);
}

ContinueGuard::~ContinueGuard() {
  lifeline_.close();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace zeus::drivers
