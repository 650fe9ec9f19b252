#include "base/companion_process.hpp"

#include "base/inherited_socket.hpp"
#include "base/poll_deadline.hpp"
#include "base/spawn_plan.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

namespace zeus {

namespace {

constexpr std::size_t longest_line = 4096;

std::array<FileDescriptor, 2> connect_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure(errno, "cannot make a socket");
  }
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

// Above the standard streams and inherited_socket_number, which the file actions replace.
FileDescriptor above_inherited_socket(const FileDescriptor& descriptor) {
  FileDescriptor moved{::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, inherited_socket_number + 1)};
  if (!moved) {
    throw system_failure(errno, "cannot duplicate a socket");
  }
  return moved;
}

// Waits for the intermediate process, which forks and ends at once; false if it keeps running. Another part of this
// process may wait for any child and collect this one first.
bool await_intermediate(pid_t process, Seconds patience) {
  const auto deadline = deadline_after(patience);
  std::chrono::microseconds pause{100};
  while (true) {
    const pid_t ended = ::waitpid(process, nullptr, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) {
      return true;
    }
    if (is_over(deadline)) {
      return false;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds{20'000});
  }
}

}  // namespace

CompanionProcess::CompanionProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                   Seconds patience)
    : owner_{::getpid()} {
  std::array<FileDescriptor, 2> ends = connect_pair();
  const FileDescriptor theirs = above_inherited_socket(ends[1]);
  SpawnPlan plan{SpawnPlan::Signals::blocked, SpawnPlan::Group::own_session};
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    plan.open_null(stream);
  }
  plan.duplicate(theirs.get(), inherited_socket_number);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  group_ = plan.spawn(std::move(words));
  socket_ = std::move(ends[0]);
  if (!await_intermediate(group_, patience)) {
    ::kill(-group_, SIGKILL);
    while (::waitpid(group_, nullptr, 0) < 0 && errno == EINTR) {
    }
    throw Error{ErrorKind::timeout,
                fmt::format("{} did not go into the background within {:.6g} s, and was killed", program.string(),
                            patience.value()),
                "this is another program than the one that Zeus expects there"};
  }
}

CompanionProcess::~CompanionProcess() {
  if (owner_ == ::getpid()) {
    ::shutdown(socket_.get(), SHUT_RDWR);
  }
}

bool CompanionProcess::is_there() const {
  pollfd asked{socket_.get(), 0, 0};
  return ::poll(&asked, 1, 0) == 0;
}

std::optional<std::string> CompanionProcess::read_line(Seconds patience) {
  const auto deadline = deadline_after(patience);
  std::string line;
  while (line.size() < longest_line) {
    pollfd asked{socket_.get(), POLLIN, 0};
    const int ready = ::poll(&asked, 1, milliseconds_until(deadline));
    if (ready == 0 && is_over(deadline)) {
      return std::nullopt;
    }
    char character = 0;
    if (ready > 0) {
      const ssize_t count = ::recv(socket_.get(), &character, 1, 0);
      if (count == 1 && character == '\n') {
        return line;
      }
      if (count == 1) {
        line += character;
        continue;
      }
      if (count == 0 || errno != EINTR) {
        return std::nullopt;
      }
    } else if (ready < 0 && errno != EINTR) {
      throw system_failure(errno, "cannot wait for a companion");
    }
  }
  return std::nullopt;
}

void CompanionProcess::nudge() const noexcept {
  const char byte = '!';
  // A full buffer serves as well as one more byte: the companion has not looked yet.
  static_cast<void>(::send(socket_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void CompanionProcess::kill() const noexcept {
  if (owner_ == ::getpid() && is_there()) {
    ::kill(-group_, SIGKILL);
  }
}

FileDescriptor enter_companion() {
  FileDescriptor socket = take_inherited_socket();
  const pid_t child = ::fork();
  if (child < 0) {
    throw system_failure(errno, "cannot go into the background");
  }
  if (child > 0) {
    ::_exit(0);
  }
  return socket;
}

}  // namespace zeus
