#include "run/watched_command.hpp"

#include "base/background_thread.hpp"
#include "base/orphans.hpp"
#include "run/reports.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>

namespace zeus::run {

namespace {

constexpr Seconds longest_pause{3600};
// How often the terminal's size is checked; no signal reports its changes to us.
constexpr Seconds look_at_terminal{0.25};
// Of what the command writes to $ZEUS_PROGRESS: in one turn, and when it has ended.
constexpr std::size_t most_reports_at_once = 65536;
constexpr std::size_t most_reports_left_behind = 1 << 20;
// How often a group is checked after its leader has ended.
constexpr Seconds look_at_group{0.02};
// For this long a reader that takes nothing is waited for, once the command has ended and the end was asked for.
constexpr Seconds last_patience{2};

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
  wake_ = FileDescriptor{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake_) {
    throw system_failure(errno, "cannot make an event");
  }
  // The command waits for its guard, so that it never runs without one, whenever this process dies.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure(errno, "cannot make a socket");
  }
  const FileDescriptor gate{ends[0]};
  FileDescriptor key{ends[1]};
  child_.emplace(ChildProcess::Plan{.command = plan.command,
                                    .environment = environment_for(plan, their_reports_.get()),
                                    .own_group = true,
                                    .before_command = [this, &gate, &key] {
                                      key.close();
                                      char word = 0;
                                      if (::read(gate.get(), &word, 1) != 1) {
                                        ::_exit(ChildProcess::exit_own_failure);
                                      }
                                      relay_.attach();
                                    }});
  relay_.attached();
  guard_.emplace(child_->process(), plan.grace);
  (void)::send(key.get(), "", 1, MSG_NOSIGNAL);
  thread_ = background_thread([this] { relay(); });
}

WatchedCommand::~WatchedCommand() {
  end();
  thread_.join();
}

void WatchedCommand::end() {
  const std::lock_guard lock{mutex_};
  if (!code_) {
    told_to_end_ = true;
    termination_.begin(clock_.now());
    wake();
  }
}

// The thread may wait for longer than what is due now.
void WatchedCommand::wake() const {
  constexpr std::uint64_t once = 1;
  (void)!::write(wake_.get(), &once, sizeof once);
}

std::optional<int> WatchedCommand::exit_code() const {
  const std::lock_guard lock{mutex_};
  return given_code_;
}

std::optional<std::string> WatchedCommand::why_not_run() const {
  const std::lock_guard lock{mutex_};
  return child_->why_not_run();
}

Seconds WatchedCommand::stood_still() const {
  const std::lock_guard lock{mutex_};
  return child_->stood_still();
}

WatchedCommand::Seen WatchedCommand::seen() const {
  const std::lock_guard lock{mutex_};
  Seen seen = heard_.seen();
  seen.lost = relay_.lost();
  return seen;
}

void WatchedCommand::between_its_output(const std::function<void(bool mid_line)>& write) {
  const std::lock_guard lock{mutex_};
  write(mid_line_);
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

std::optional<int> WatchedCommand::asked_to_end() {
  const std::lock_guard lock{mutex_};
  if (!code_) {
    heed_signals();
    wake();  // this may have read a signal that the thread waits for, for example SIGCHLD
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

// No more than that at once: a command may write without end, and signals and output wait meanwhile.
void WatchedCommand::read_reports(std::size_t at_most) {
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  for (std::size_t taken = 0; taken < at_most; taken += static_cast<std::size_t>(count)) {
    count = ::read(reports_.get(), buffer.data(), buffer.size());
    if (count <= 0) {
      return;
    }
    heard_.hear_reports({buffer.data(), static_cast<std::size_t>(count)});
  }
}

Seconds WatchedCommand::pause() const {
  Seconds pause = longest_pause;
  if (const std::optional<Instant> next = termination_.next()) {
    pause = std::min(pause, *next - clock_.now());
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
  std::unique_lock lock{mutex_};
  const Instant deadline = clock_.now() + std::min(patience, longest_pause);
  while (!code_ && !failure_ && !heard_.any() && clock_.now() < deadline) {
    clock_.wait_until(lock, changed_, deadline);
  }
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  given_code_ = code_;
  return heard_.take();
}

void WatchedCommand::relay() {
  std::unique_lock lock{mutex_};
  try {
    std::optional<int> code;
    while (!code) {
      code = relay_once(lock);
      if (heard_.any()) {
        changed_.notify_all();
      }
    }
    finish(*code, lock);
  } catch (...) {
    ::kill(-child_->process(), SIGKILL);
    failure_ = std::current_exception();
  }
  changed_.notify_all();
}

std::optional<int> WatchedCommand::relay_once(std::unique_lock<std::mutex>& lock) {
  send_what_is_due();
  std::vector<pollfd> watched = relay_.wanted();
  const std::size_t channels = watched.size();
  for (const int descriptor : {reports_.get(), child_->descriptor(), wake_.get()}) {
    watched.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  const auto milliseconds = static_cast<int>(std::ceil(pause().value() * 1e3));
  lock.unlock();
  const int ready = ::poll(watched.data(), watched.size(), milliseconds);
  lock.lock();
  if (ready < 0) {
    std::ranges::for_each(watched, [](pollfd& one) { one.revents = 0; });
  }
  std::uint64_t woken = 0;
  (void)!::read(wake_.get(), &woken, sizeof woken);
  // First, as it reads SIGCHLD as well: a command that ended right after a look would not be looked at again.
  heed_signals();
  const std::optional<int> code = child_->look();
  relay_.move(std::span{watched}.first(channels),
              [this](std::size_t channel, std::string_view bytes) { hear(channel, bytes); });
  if (watched[channels].revents != 0) {
    read_reports(most_reports_at_once);
  }
  if (terminal_ && relay_.follow_window_size()) {
    ::kill(-child_->process(), SIGWINCH);
  }
  return code;
}

// The command itself has ended. Reads what it left in the pipes; if it was told to end, the processes that it left
// running end too.
void WatchedCommand::finish(int code, std::unique_lock<std::mutex>& lock) {
  guard_->dismiss();
  if (code == 128 + SIGKILL && termination_.killed() && !told_to_end_) {
    code = 128 + outer_signal().value_or(SIGKILL);
  }
  if (termination_.begun() && !told_to_end_) {
    // The signal had gone to the command alone.
    ::kill(-child_->process(), SIGTERM);
  }
  collect_orphans(child_->process());
  while (termination_.begun() && group_lives(child_->process()) && termination_.next()) {
    send_what_is_due();
    clock_.sleep_until(clock_.now() + look_at_group);
    collect_orphans(child_->process());
  }
  drain(lock);
  read_reports(most_reports_left_behind);
  heard_.finish();
  guard_.reset();
  code_ = code;
}

// The command is no longer there to handle a signal or to be told to end: either is for us.
void WatchedCommand::drain(std::unique_lock<std::mutex>& lock) {
  const auto listen = [this](std::size_t channel, std::string_view bytes) { hear(channel, bytes); };
  const int asked_before = child_->times_asked_to_end();
  std::optional<Instant> until;
  while (!relay_.drain(listen)) {
    if (heard_.any()) {
      changed_.notify_all();
    }
    if (!until && (termination_.begun() || child_->times_asked_to_end() > asked_before)) {
      until = clock_.now() + last_patience;
    }
    if (until && clock_.now() >= *until) {
      relay_.give_up();
      continue;
    }
    std::vector<pollfd> watched = relay_.waited_for();
    const auto readers = static_cast<std::ptrdiff_t>(watched.size());
    for (const int descriptor : {child_->descriptor(), wake_.get()}) {
      watched.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
    const Seconds patience = until ? *until - clock_.now() : longest_pause;
    const auto milliseconds = static_cast<int>(std::ceil(std::max(patience.value(), 0.0) * 1e3));
    lock.unlock();
    const int ready = ::poll(watched.data(), watched.size(), milliseconds);
    lock.lock();
    const auto takes = [](const pollfd& one) { return one.revents != 0; };
    if (ready > 0 && std::any_of(watched.begin(), watched.begin() + readers, takes)) {
      until.reset();
    }
    std::uint64_t woken = 0;
    (void)!::read(wake_.get(), &woken, sizeof woken);
    (void)child_->asked_to_end();
  }
}

}  // namespace zeus::run
