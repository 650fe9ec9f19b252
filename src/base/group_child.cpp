#include "base/group_child.hpp"

#include "base/exec_strings.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace zeus {

namespace {

struct ChildPipe {
  FileDescriptor ours;
  FileDescriptor theirs;
};

// Our end is the one to write to, or the one to read from. Theirs is above the standard streams, which the file actions
// replace one after the other.
ChildPipe make_child_pipe(bool to_child) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  FileDescriptor reading{ends[0]};
  FileDescriptor writing{ends[1]};
  FileDescriptor theirs{::fcntl((to_child ? reading : writing).get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (!theirs) {
    throw system_failure(errno, "cannot duplicate a pipe");
  }
  FileDescriptor& ours = to_child ? writing : reading;
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  return {.ours = std::move(ours), .theirs = std::move(theirs)};
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

  GroupSpawn(pid_t group, const FileDescriptor& input, const FileDescriptor& output, const FileDescriptor& errors) {
    ::posix_spawn_file_actions_init(&actions);
    if (input) {
      ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
    } else {
      ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
    if (errors) {
      ::posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes);
    sigset_t signals{};
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, group);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  GroupSpawn(const GroupSpawn&) = delete;
  GroupSpawn& operator=(const GroupSpawn&) = delete;
  ~GroupSpawn() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
};

}  // namespace

GroupChild::GroupChild(const Plan& plan) {
  std::vector<std::string> words = plan.words;
  const std::optional<std::string> program =
      words.empty() ? std::nullopt : find_program(words.front(), plan.environment);
  if (!program) {
    why_not_ = ENOENT;
    return;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : plan.environment.variables()) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  ChildPipe input = plan.input ? make_child_pipe(true) : ChildPipe{};
  ChildPipe output = make_child_pipe(false);
  ChildPipe errors = plan.errors ? make_child_pipe(false) : ChildPipe{};
  guard_ = std::make_unique<GroupGuard>(Seconds{0});
  const GroupSpawn spawn{guard_->group(), input.theirs, output.theirs, errors.theirs};
  why_not_ = ::posix_spawn(&process_, program->c_str(), &spawn.actions, &spawn.attributes, exec_pointers(words).data(),
                           exec_pointers(variables).data());
  if (why_not_ != 0) {
    process_ = -1;
    return;
  }
  input_ = std::move(input.ours);
  output_ = std::move(output.ours);
  errors_ = std::move(errors.ours);
  ended_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, process_, 0))};
  if (!ended_) {
    const int error = errno;
    (void)collect();
    throw system_failure(error, "cannot watch a process");
  }
}

GroupChild::~GroupChild() {
  if (process_ > 0) {
    (void)collect();
  }
}

siginfo_t GroupChild::collect() {
  const pid_t group = guard_->group();
  guard_.reset();
  ::kill(-group, SIGKILL);
  siginfo_t how{};
  while (::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED) != 0 && errno == EINTR) {
  }
  process_ = -1;
  return how;
}

}  // namespace zeus
