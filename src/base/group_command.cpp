#include "base/group_command.hpp"

#include "base/exec_strings.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_guard.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string_view>

namespace zeus {

namespace {

using std::chrono::steady_clock;
using How = GroupCommandEnd::How;

constexpr Seconds at_most{3e7};  // a year; a longer patience means the same

steady_clock::time_point capped_deadline(Seconds patience) {
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                   std::chrono::duration<double>{std::min(patience, at_most).value()});
}

// As poll() wants it, and never less than what is left.
int milliseconds_until(steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

struct Pipe {
  FileDescriptor ours;
  FileDescriptor theirs;
};

Pipe make_nonblocking_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  Pipe pipe{FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
  ::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// Above the standard streams, which the file actions replace one after the other.
FileDescriptor above_standard_streams(const FileDescriptor& descriptor) {
  FileDescriptor moved{::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (!moved) {
    throw system_failure(errno, "cannot duplicate a pipe");
  }
  return moved;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return ::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::optional<std::string> find_program(const std::string& word, const Environment& environment) {
  if (word.find('/') != std::string::npos) {
    return word;
  }
  const std::string folders = environment.get("PATH").value_or("");
  std::string_view rest = folders;
  while (!rest.empty() && !word.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (const std::string path = fmt::format("{}/{}", folder, word); folder.starts_with('/') && is_program(path)) {
      return path;
    }
  }
  return std::nullopt;
}

struct GroupSpawn {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  GroupSpawn(int output, int errors) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes);
    sigset_t signals{};
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  GroupSpawn(const GroupSpawn&) = delete;
  GroupSpawn& operator=(const GroupSpawn&) = delete;
  ~GroupSpawn() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
};

// A child of ours and its group. Until we collect it, its process ID stays its own, dead or alive, so killing the group
// cannot hit other processes.
class Child {
 public:
  explicit Child(pid_t process) : process_{process} {
    try {
      ended_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, process_, 0))};
      if (!ended_) {
        throw system_failure(errno, "cannot watch a process");
      }
      guard_ = std::make_unique<GroupGuard>(process_, Seconds{0});
    } catch (...) {
      (void)collect();
      throw;
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ > 0) {
      (void)collect();
    }
  }

  // Readable once it has ended.
  [[nodiscard]] const FileDescriptor& ended() const { return ended_; }

  // Kills the rest of the group, waits for the child, and returns how it ended.
  siginfo_t collect() {
    guard_.reset();
    ::kill(-process_, SIGKILL);
    siginfo_t how{};
    while (::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED) != 0 && errno == EINTR) {
    }
    process_ = -1;
    return how;
  }

 private:
  pid_t process_;
  FileDescriptor ended_;
  std::unique_ptr<GroupGuard> guard_;
};

struct Stream {
  FileDescriptor source;
  std::string* kept;
};

// Reads what is there, and closes a stream that no process can write to any more.
void read_some(Stream& stream, std::size_t most, bool& cut) {
  std::array<char, 16'384> buffer{};
  const ssize_t count = ::read(stream.source.get(), buffer.data(), buffer.size());
  if (count > 0) {
    const std::size_t room = most - stream.kept->size();
    stream.kept->append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
    cut = cut || static_cast<std::size_t>(count) > room;
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    stream.source.close();
  }
}

// Returns when the child has ended and no process has the streams any more, or when patience is over.
void follow(const Child& child, std::array<Stream, 2>& streams, const GroupCommand& command, GroupCommandEnd& end) {
  auto deadline = capped_deadline(command.patience);
  bool has_ended = false;
  while (!has_ended || streams[0].source || streams[1].source) {
    std::array<pollfd, 3> asked{{{.fd = streams[0].source.get(), .events = POLLIN, .revents = 0},
                                 {.fd = streams[1].source.get(), .events = POLLIN, .revents = 0},
                                 {.fd = has_ended ? -1 : child.ended().get(), .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(asked.data(), asked.size(), milliseconds_until(deadline));
    for (std::size_t i = 0; ready > 0 && i < streams.size(); ++i) {
      if (asked[i].revents != 0) {
        read_some(streams[i], command.most, end.cut);
      }
    }
    if (ready > 0 && asked[2].revents != 0) {
      has_ended = true;
      deadline = capped_deadline(command.linger);
    } else if (steady_clock::now() >= deadline) {
      end.how = has_ended ? How::exited : How::timed_out;
      end.abandoned = has_ended;
      return;
    }
  }
  end.how = How::exited;
}

}  // namespace

GroupCommandEnd run_to_end(const GroupCommand& command) {
  GroupCommandEnd end;
  std::vector<std::string> words = command.words;
  const std::optional<std::string> program =
      words.empty() ? std::nullopt : find_program(words.front(), command.environment);
  if (!program) {
    end.code = ENOENT;
    return end;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment.variables()) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  Pipe output = make_nonblocking_pipe();
  Pipe errors = make_nonblocking_pipe();
  pid_t process = -1;
  {
    const FileDescriptor their_output = above_standard_streams(output.theirs);
    const FileDescriptor their_errors = above_standard_streams(errors.theirs);
    const GroupSpawn plan{their_output.get(), their_errors.get()};
    end.code = ::posix_spawn(&process, program->c_str(), &plan.actions, &plan.attributes, exec_pointers(words).data(),
                             exec_pointers(variables).data());
  }
  if (end.code != 0) {
    return end;
  }
  output.theirs.close();
  errors.theirs.close();
  Child child{process};
  std::array<Stream, 2> streams{{{std::move(output.ours), &end.output}, {std::move(errors.ours), &end.errors}}};
  follow(child, streams, command, end);
  const siginfo_t how = child.collect();
  if (end.how == How::exited) {
    end.how = how.si_code == CLD_EXITED ? How::exited : How::killed;
    end.code = how.si_status;
  }
  return end;
}

}  // namespace zeus
