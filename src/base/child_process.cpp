#include "base/child_process.hpp"

#include "base/clock.hpp"
#include "base/exec_strings.hpp"
#include "base/printable.hpp"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <vector>

namespace zeus {

namespace {

constexpr int passed_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

bool holds_terminal() {
  return ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
}

// Gives the terminal to a group, even if we are in the background, where the terminal would stop the caller (SIGTTOU).
void give_terminal(pid_t group) {
  sigset_t output{};
  sigset_t former{};
  ::sigemptyset(&output);
  ::sigaddset(&output, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &output, &former);
  ::tcsetpgrp(STDIN_FILENO, group);
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

int exit_code_for(int error) {
  return error == ENOENT || error == ENOTDIR ? ChildProcess::exit_not_found : ChildProcess::exit_not_executable;
}

}  // namespace

std::optional<std::string> ChildProcess::why_not_run() const {
  if (not_run_ == 0) {
    return std::nullopt;
  }
  // A name without a slash was looked for on the path, where such a file is passed over.
  const bool is_there = name_.find('/') != std::string::npos && ::access(name_.c_str(), F_OK) == 0;
  if (not_run_ == ENOENT && is_there) {
    return in_quotes(name_) + " is there, but the interpreter that it names was not found (exit code 127)";
  }
  return in_quotes(name_) + (exit_code_for(not_run_) == exit_not_found ? " was not found (exit code 127)"
                                                                       : " cannot be executed (exit code 126)");
}

ChildProcess::ChildProcess(const Plan& plan) : name_{plan.command.front()}, own_group_{plan.own_group} {
  ::sigemptyset(&passed_);
  ::sigaddset(&passed_, SIGCHLD);
  ::sigaddset(&passed_, SIGCONT);
  for (const int signal : passed_signals) {
    if (!is_ignored(signal)) {
      ::sigaddset(&passed_, signal);
    }
  }
  signals_ = FileDescriptor{::signalfd(-1, &passed_, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!signals_) {
    throw system_failure(errno, "cannot watch signals");
  }
  // Closed without a byte if the command is run.
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  failure_ = FileDescriptor{ends[0]};
  const FileDescriptor theirs{ends[1]};
  std::vector<std::string> command = plan.command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : plan.environment.variables()) {
    variables.emplace_back(name).append("=").append(value);
  }
  const std::vector<char*> arguments = exec_pointers(command);
  const std::vector<char*> environment = exec_pointers(variables);
  const bool terminal = own_group_ && holds_terminal();
  ::pthread_sigmask(SIG_BLOCK, &passed_, &former_);
  process_ = ::fork();
  if (process_ < 0) {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
    throw system_failure(error, "cannot start a process");
  }
  if (process_ == 0) {
    if (own_group_) {
      ::setpgid(0, 0);
    }
    if (terminal) {
      give_terminal(::getpid());
    }
    int error = 0;
    try {
      if (plan.before_command) {
        plan.before_command();
      }
    } catch (...) {
      error = ECANCELED;  // what follows in our caller is the parent's
    }
    if (error == 0) {
      ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
      ::execvpe(arguments[0], arguments.data(), environment.data());
      error = errno;
    }
    (void)!::write(theirs.get(), &error, sizeof error);
    ::_exit(exit_code_for(error));
  }
  if (own_group_) {
    ::setpgid(process_, process_);
  }
}

ChildProcess::~ChildProcess() {
  take_terminal_back();
  ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

void ChildProcess::take_terminal_back() const {
  if (own_group_ && ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == process_) {
    give_terminal(::getpgrp());
  }
}

std::optional<int> ChildProcess::collect() {
  int status = 0;
  if (!code_ && ::waitpid(process_, &status, WNOHANG | (own_group_ ? WUNTRACED : 0)) == process_) {
    if (!WIFSTOPPED(status)) {
      code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      (void)!::read(failure_.get(), &not_run_, sizeof not_run_);
      take_terminal_back();  // Ctrl-C is for us from now on
    } else if (WSTOPSIG(status) == SIGTSTP || WSTOPSIG(status) == SIGTTIN || WSTOPSIG(status) == SIGTTOU) {
      stop_with_group();
    }
  }
  return code_;
}

// The terminal stopped the command's group, which is not our group. Stop as well, so that the shell takes over until it
// continues us.
void ChildProcess::stop_with_group() {
  take_terminal_back();
  // Sent to this thread, it stops the process before the next line.
  sigset_t stop{};
  sigset_t former{};
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, &former);
  const SystemClock clock;
  const Instant stopped = clock.now();
  (void)::raise(SIGTSTP);
  stood_still_ += clock.now() - stopped;
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  pass_terminal_on();
  ::kill(-process_, SIGCONT);
}

// A shell that brings us to the foreground (`fg`, not `bg`) means the command.
void ChildProcess::pass_terminal_on() const {
  if (own_group_ && !code_ && holds_terminal()) {
    give_terminal(process_);
  }
}

bool ChildProcess::pass_signals_on() {
  signalfd_siginfo signal{};
  bool asked = false;
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    const int number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) {
      continue;
    }
    if (number == SIGCONT) {
      pass_terminal_on();
      continue;
    }
    if (number != SIGUSR1 && number != SIGUSR2) {
      asked_to_end_ = number;
      ++times_asked_to_end_;
      asked = true;
    }
    // The terminal signals its whole foreground group. That includes the command, unless it has a group of its own.
    const bool by_terminal = signal.ssi_code == SI_KERNEL;
    if (!code_ && (!by_terminal || own_group_)) {
      ::kill(by_terminal ? -process_ : process_, number);
    }
  }
  return asked;
}

std::optional<int> ChildProcess::asked_to_end() {
  pass_signals_on();
  return asked_to_end_;
}

std::optional<int> ChildProcess::look() {
  pass_signals_on();
  return collect();
}

std::optional<int> ChildProcess::wait_for(Seconds patience, std::span<pollfd> others) {
  const SystemClock clock;
  const Instant deadline = clock.now() + patience;
  std::vector<pollfd> watched{{.fd = signals_.get(), .events = POLLIN, .revents = 0}};
  watched.insert(watched.end(), others.begin(), others.end());
  while (!collect()) {
    const Seconds left = deadline - clock.now();
    if (left <= Seconds{0}) {
      return std::nullopt;
    }
    const double milliseconds = std::ceil(std::min(left.value(), 1e6) * 1e3);
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(milliseconds));
    const bool asked = ready > 0 && watched.front().revents != 0 && pass_signals_on();
    if (asked || ready > (watched.front().revents != 0 ? 1 : 0)) {
      std::copy(watched.begin() + 1, watched.end(), others.begin());
      return collect();
    }
  }
  return code_;
}

}  // namespace zeus
