#include "base/piped_process.hpp"

#include "base/spawn_plan.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

namespace zeus {

namespace {

constexpr std::size_t kept_errors = 4096;

struct PipeEnds {
  FileDescriptor reading;
  FileDescriptor writing;
};

// Before anything reads from the pipe, so that this must not wait.
void write_at_once(const FileDescriptor& pipe, std::string_view input) {
  ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
  const ssize_t written = input.empty() ? 0 : ::write(pipe.get(), input.data(), input.size());
  if (written != static_cast<ssize_t>(input.size())) {
    throw Error{ErrorKind::unavailable,
                fmt::format("a pipe has no room for {} bytes, as this user has many pipes", input.size()),
                "run fewer commands at a time, or raise /proc/sys/fs/pipe-user-pages-soft"};
  }
}

PipeEnds make_blocking_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

// More bytes than a pipe holds, so that a process that has ended is read to its end; and no more, so that one that
// prints without end leaves time for the others.
constexpr int most_pieces = 16;

// Returns false at the end of the stream.
bool read_available(const FileDescriptor& stream, const std::function<void(std::string_view)>& take) {
  std::array<char, 65'536> buffer{};
  for (int piece = 0; piece < most_pieces; ++piece) {
    const ssize_t count = ::read(stream.get(), buffer.data(), buffer.size());
    if (count > 0) {
      take({buffer.data(), static_cast<std::size_t>(count)});
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

}  // namespace

PipedProcess::PipedProcess(std::vector<std::string> words, const Environment& environment, std::string_view input) {
  PipeEnds to_it = make_blocking_pipe();
  PipeEnds from_it = make_blocking_pipe();
  PipeEnds its_errors = make_blocking_pipe();
  // Before it runs, as it may end at once.
  write_at_once(to_it.writing, input);
  std::vector<std::string> variables;
  for (const auto& [variable, value] : environment.variables()) {
    variables.push_back(fmt::format("{}={}", variable, value));
  }
  SpawnPlan plan{SpawnPlan::Signals::unblocked, SpawnPlan::Group::own};
  plan.duplicate(to_it.reading.get(), STDIN_FILENO);
  plan.duplicate(from_it.writing.get(), STDOUT_FILENO);
  plan.duplicate(its_errors.writing.get(), STDERR_FILENO);
  process_ = plan.spawn(std::move(words), std::move(variables));
  end_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, process_, 0))};
  if (!end_) {
    const int error = errno;
    kill();
    ::waitpid(process_, nullptr, 0);
    throw system_failure(error, "cannot watch a process");
  }
  input_ = std::move(to_it.writing);
  output_ = std::move(from_it.reading);
  errors_ = std::move(its_errors.reading);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
}

void PipedProcess::read(const std::function<void(std::string_view)>& output) {
  if (output_ && !read_available(output_, output)) {
    output_.close();
  }
  const auto keep = [this](std::string_view bytes) {
    last_errors_ += bytes;
    if (last_errors_.size() > kept_errors) {
      last_errors_.erase(0, last_errors_.size() - kept_errors);
    }
  };
  if (errors_ && !read_available(errors_, keep)) {
    errors_.close();
  }
}

std::optional<int> PipedProcess::exit_code() {
  siginfo_t how{};
  if (process_ < 0 || ::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG) != 0 || how.si_pid == 0) {
    return std::nullopt;
  }
  process_ = -1;
  return how.si_code == CLD_EXITED ? how.si_status : 128 + how.si_status;
}

void PipedProcess::kill() const {
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);
  }
}

}  // namespace zeus
