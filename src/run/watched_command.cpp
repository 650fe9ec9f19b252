#include "run/watched_command.hpp"

#include "run/reports.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace zeus::run {

namespace {

constexpr Seconds longest_pause{3600};
// How often the terminal's size is checked; no signal reports its changes to us.
constexpr Seconds look_at_terminal{0.25};
// How often a group is checked after its leader has ended.
constexpr Seconds look_at_group{0.02};

Environment environment_for(const WatchedCommand::Plan& plan, int reports) {
  Environment::Variables variables = plan.environment.variables();
  for (const auto& [name, value] : plan.variables) {
    variables.insert_or_assign(name, value);
  }
  // The path through our own descriptor works even for a script that did not inherit it.
  variables.insert_or_assign(reports_variable, fmt::format("/proc/{}/fd/{}", ::getpid(), reports));
  // Python would otherwise buffer up to 8 KiB of what it prints to a pipe.
  variables.try_emplace("PYTHONUNBUFFERED", "1");
  return Environment{std::move(variables)};
}

bool group_lives(pid_t group) {
  return ::kill(-group, 0) == 0 || errno == EPERM;
}

}  // namespace

WatchedCommand::WatchedCommand(const Plan& plan, Clock& clock)
    : clock_{clock},
      relay_{plan.output, plan.error},
      heard_{plan.patterns},
      overheard_{plan.overheard},
      termination_{plan.grace},
      terminal_{::isatty(plan.output) != 0 || ::isatty(plan.error) != 0} {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  reports_ = FileDescriptor{ends[0]};
  their_reports_ = FileDescriptor{ends[1]};
  child_.emplace(ChildProcess::Plan{.command = plan.command,
                                    .environment = environment_for(plan, their_reports_.get()),
                                    .own_group = true,
                                    .before_command = [this] { relay_.attach(); }});
  relay_.attached();
  guard_.emplace(child_->process(), plan.grace);
}

WatchedCommand::~WatchedCommand() {
  end();
  while (!code_) {
    (void)wait(longest_pause);
  }
}

void WatchedCommand::end() {
  if (!code_) {
    told_to_end_ = true;
    termination_.begin(clock_.now());
  }
}

std::optional<int> WatchedCommand::outer_signal() {
  const std::optional<int> sent = child_->asked_to_end();
  return sent || !guard_ ? sent : guard_->terminal_signal();
}

// After one interrupt the command may go on, as it may handle that. After a second one, or a signal that means the end,
// it must end.
void WatchedCommand::heed_signals() {
  const std::optional<int> signal = outer_signal();
  if (!signal) {
    return;
  }
  if (*signal == SIGTERM || *signal == SIGHUP) {
    termination_.begin_asked(clock_.now());
  } else if (child_->times_asked_to_end() + guard_->interruptions() > 1) {
    termination_.begin(clock_.now());
  }
}

// A signal that is read here no longer ends the next wait.
std::optional<int> WatchedCommand::asked_to_end() {
  if (!code_) {
    heed_signals();
  }
  return outer_signal();
}

void WatchedCommand::hear(std::size_t channel, std::string_view bytes) {
  heard_.hear(channel, bytes);
  if (overheard_) {
    overheard_(channel, bytes);
  }
  if (channel == 1 || relay_.is_one()) {
    mid_line_ = bytes.back() != '\n';
  }
}

void WatchedCommand::read_reports() {
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::read(reports_.get(), buffer.data(), buffer.size())) > 0) {
    heard_.hear_reports({buffer.data(), static_cast<std::size_t>(count)});
  }
}

Seconds WatchedCommand::pause(Instant deadline) const {
  const Instant now = clock_.now();
  Seconds pause = deadline - now;
  if (const std::optional<Instant> next = termination_.next()) {
    pause = std::min(pause, *next - now);
  }
  return std::max(terminal_ ? std::min(pause, look_at_terminal) : pause, Seconds{});
}

void WatchedCommand::send_what_is_due() {
  if (const std::optional<int> signal = termination_.due(clock_.now())) {
    ::kill(-child_->process(), *signal);
    // A stopped process would not receive the signal.
    ::kill(-child_->process(), SIGCONT);
  }
}

std::vector<trial::Progress> WatchedCommand::wait(Seconds patience) {
  const auto listen = [this](std::size_t channel, std::string_view bytes) { hear(channel, bytes); };
  const Instant deadline = clock_.now() + std::min(patience, longest_pause);
  while (!code_ && !heard_.any()) {
    send_what_is_due();
    std::vector<pollfd> watched = relay_.wanted();
    watched.push_back({.fd = reports_.get(), .events = POLLIN, .revents = 0});
    code_ = child_->wait_for(std::max(pause(deadline), Seconds{1e-6}), watched);
    heed_signals();
    relay_.move(watched, listen);
    if (watched.back().revents != 0) {
      read_reports();
    }
    if (terminal_ && relay_.follow_window_size()) {
      ::kill(-child_->process(), SIGWINCH);
    }
    if (clock_.now() >= deadline) {
      break;
    }
  }
  if (code_ && guard_) {
    finish();
  }
  return heard_.take();
}

// The command itself has ended. Reads what it left in the pipes; if it was told to end, the processes that it left
// running end too.
void WatchedCommand::finish() {
  const auto listen = [this](std::size_t channel, std::string_view bytes) { hear(channel, bytes); };
  guard_->dismiss();
  if (code_ == 128 + SIGKILL && termination_.killed() && !told_to_end_) {
    code_ = 128 + outer_signal().value_or(SIGKILL);
  }
  if (termination_.begun() && !told_to_end_) {
    // The signal had gone to the command alone.
    ::kill(-child_->process(), SIGTERM);
  }
  while (termination_.begun() && group_lives(child_->process()) && termination_.next()) {
    send_what_is_due();
    clock_.sleep_until(clock_.now() + look_at_group);
  }
  relay_.drain(listen);
  read_reports();
  heard_.finish();
  guard_.reset();
}

}  // namespace zeus::run
