#include "base/group_guard.hpp"

#include "base/close_from.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace zeus {

namespace {

constexpr int guard_line = 3;

// The guard's whole work, in a forked child of a program with threads: nothing but system calls.
[[noreturn]] void keep_guard(int line, pid_t group, timespec grace) {
  sigset_t all{};
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setpgid(0, group);
  // Any other descriptor that stays open here would look as if our parent still had it.
  if (line != guard_line) {
    ::dup2(line, guard_line);
  }
  close_from(guard_line + 1);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::close(stream);
  }
  sigset_t heard{};
  ::sigemptyset(&heard);
  ::sigaddset(&heard, SIGINT);
  ::sigaddset(&heard, SIGQUIT);
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
    ::sigaddset(&heard, SIGHUP);
  }
  const int signals = ::signalfd(-1, &heard, 0);
  while (true) {
    std::array<pollfd, 2> asked{
        {{.fd = guard_line, .events = POLLIN, .revents = 0}, {.fd = signals, .events = POLLIN, .revents = 0}}};
    if (::poll(asked.data(), asked.size(), -1) <= 0) {
      continue;
    }
    if (asked[0].revents != 0) {
      char word = 0;
      if (::read(guard_line, &word, 1) == 1) {
        ::_exit(0);
      }
      break;
    }
    signalfd_siginfo signal{};
    if (::read(signals, &signal, sizeof signal) == sizeof signal && signal.ssi_code == SI_KERNEL) {
      const auto number = static_cast<char>(signal.ssi_signo);
      (void)::send(guard_line, &number, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  }
  ::kill(-group, SIGTERM);
  ::kill(-group, SIGCONT);
  ::nanosleep(&grace, nullptr);
  ::kill(-group, SIGKILL);
  ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard(pid_t group, Seconds grace) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure(errno, "cannot make a socket");
  }
  line_ = FileDescriptor{ends[0]};
  const FileDescriptor theirs{ends[1]};
  const auto seconds = static_cast<time_t>(grace.value());
  const timespec time{.tv_sec = seconds,
                      .tv_nsec = static_cast<long>((grace.value() - static_cast<double>(seconds)) * 1e9)};
  process_ = ::fork();
  if (process_ < 0) {
    throw system_failure(errno, "cannot start a process");
  }
  if (process_ == 0) {
    keep_guard(theirs.get(), group, time);
  }
  // Set here as well, so that it is in the group whichever of the two runs first.
  ::setpgid(process_, group);
}

GroupGuard::~GroupGuard() {
  dismiss();
}

void GroupGuard::hear() {
  char signal = 0;
  while (line_ && ::recv(line_.get(), &signal, 1, MSG_DONTWAIT) == 1) {
    terminal_signal_ = signal;
    interruptions_ += signal == SIGHUP ? 0 : 1;
  }
}

int GroupGuard::interruptions() {
  hear();
  return interruptions_;
}

std::optional<int> GroupGuard::terminal_signal() {
  hear();
  return terminal_signal_;
}

void GroupGuard::dismiss() {
  if (!line_) {
    return;
  }
  hear();
  (void)::send(line_.get(), "", 1, MSG_NOSIGNAL);
  // It may be stopped with its group.
  ::kill(process_, SIGCONT);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  line_.close();
}

}  // namespace zeus
