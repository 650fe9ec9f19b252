#include "base/output_relay.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace zeus {

namespace {

// A pipe that is ready for writing takes this much at once.
constexpr std::size_t certain_write = PIPE_BUF;
// The most that a pipe may hold after its writers are done.
constexpr std::size_t most_left_behind = 1 << 20;

bool same_file(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::pair<FileDescriptor, FileDescriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

// A terminal like `model`, except for the translation of line ends, which is left to the real one.
std::pair<FileDescriptor, FileDescriptor> make_terminal(int model) {
  FileDescriptor ours{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  std::array<char, 64> name{};
  if (!ours || ::grantpt(ours.get()) != 0 || ::unlockpt(ours.get()) != 0 ||
      ::ptsname_r(ours.get(), name.data(), name.size()) != 0) {
    throw system_failure(errno, "cannot make a terminal");
  }
  FileDescriptor theirs{::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (!theirs) {
    throw system_failure(errno, "cannot open a terminal");
  }
  termios settings{};
  if (::tcgetattr(model, &settings) == 0) {
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(theirs.get(), TCSANOW, &settings);
  }
  winsize size{};
  if (::ioctl(model, TIOCGWINSZ, &size) == 0) {
    ::ioctl(ours.get(), TIOCSWINSZ, &size);
  }
  return {std::move(ours), std::move(theirs)};
}

bool is_ready(int descriptor) {
  pollfd asked{.fd = descriptor, .events = POLLIN, .revents = 0};
  return descriptor >= 0 && ::poll(&asked, 1, 0) > 0;
}

}  // namespace

OutputRelay::OutputRelay(int output, int error) {
  (void)::signal(SIGPIPE, SIG_IGN);
  channels_.push_back(open(output));
  if (!same_file(output, error)) {
    channels_.push_back(open(error));
  }
}

OutputRelay::Channel OutputRelay::open(int target) {
  const bool terminal = ::isatty(target) != 0;
  auto [source, ours] = terminal ? make_terminal(target) : make_pipe();
  return {.target = target,
          .source = std::move(source),
          .ours = std::move(ours),
          .terminal = terminal,
          .pending = {},
          .drained = 0};
}

void OutputRelay::attach() const {
  (void)::signal(SIGPIPE, SIG_DFL);
  ::dup2(channels_.front().ours.get(), STDOUT_FILENO);
  ::dup2(error_channel().ours.get(), STDERR_FILENO);
}

void OutputRelay::attached() {
  for (Channel& channel : channels_) {
    channel.ours.close();
  }
}

std::vector<pollfd> OutputRelay::wanted() const {
  std::vector<pollfd> wanted;
  for (const Channel& channel : channels_) {
    if (channel.pending.empty()) {
      wanted.push_back({.fd = channel.source.get(), .events = POLLIN, .revents = 0});
    } else {
      wanted.push_back({.fd = channel.target, .events = POLLOUT, .revents = 0});
    }
  }
  return wanted;
}

void OutputRelay::move(std::span<const pollfd> ready, const Listener& listener) {
  for (std::size_t index = 0; index < channels_.size(); ++index) {
    if (ready[index].revents == 0) {
      continue;
    }
    if (channels_[index].pending.empty()) {
      read(index, listener);
    } else {
      write(channels_[index]);
    }
  }
}

std::size_t OutputRelay::read(std::size_t index, const Listener& listener) {
  Channel& channel = channels_[index];
  channel.pending.resize(most_pending);
  const ssize_t count = ::read(channel.source.get(), channel.pending.data(), channel.pending.size());
  channel.pending.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
    // The last writer is gone; a terminal reports that as an error.
    channel.source.close();
  }
  if (count > 0) {
    listener(index, channel.pending);
    write(channel);
  }
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

// Writes only as much as is certain not to block. While anything is pending, there is more to come.
void OutputRelay::write(Channel& channel) {
  if (channel.target < 0) {
    lose(channel, 0, ECANCELED);
  }
  std::size_t done = 0;
  while (done < channel.pending.size()) {
    pollfd asked{.fd = channel.target, .events = POLLOUT, .revents = 0};
    if (::poll(&asked, 1, 0) <= 0) {
      break;
    }
    const ssize_t count =
        ::write(channel.target, channel.pending.data() + done, std::min(channel.pending.size() - done, certain_write));
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
      lose(channel, done, errno);
    } else if (errno != EINTR && errno != EAGAIN) {
      // The reader or the terminal is gone: the command learns of it at its next write.
      channel.source.close();
      done = channel.pending.size();
    }
  }
  channel.pending.erase(0, done);
}

void OutputRelay::lose(Channel& channel, std::size_t from, int error) {
  lost_.error = lost_.bytes == 0 ? error : lost_.error;
  lost_.bytes += channel.pending.size() - from;
  channel.pending.resize(from);
}

bool OutputRelay::drain(const Listener& listener) {
  for (std::size_t index = 0; index < channels_.size(); ++index) {
    Channel& channel = channels_[index];
    write(channel);
    while (channel.pending.empty() && channel.drained < most_left_behind && is_ready(channel.source.get())) {
      channel.drained += std::max<std::size_t>(read(index, listener), 1);
    }
  }
  return std::ranges::all_of(channels_, [](const Channel& channel) { return channel.pending.empty(); });
}

std::vector<pollfd> OutputRelay::waited_for() const {
  std::vector<pollfd> waited_for;
  for (const Channel& channel : channels_) {
    if (!channel.pending.empty()) {
      waited_for.push_back({.fd = channel.target, .events = POLLOUT, .revents = 0});
    }
  }
  return waited_for;
}

void OutputRelay::give_up() {
  for (Channel& channel : channels_) {
    channel.target = channel.pending.empty() ? channel.target : -1;
  }
}

bool OutputRelay::follow_window_size() {
  bool changed = false;
  for (const Channel& channel : channels_) {
    winsize now{};
    winsize known{};
    if (channel.terminal && channel.source && ::ioctl(channel.target, TIOCGWINSZ, &now) == 0 &&
        ::ioctl(channel.source.get(), TIOCGWINSZ, &known) == 0 &&
        (now.ws_row != known.ws_row || now.ws_col != known.ws_col)) {
      ::ioctl(channel.source.get(), TIOCSWINSZ, &now);
      changed = true;
    }
  }
  return changed;
}

}  // namespace zeus
