#include "base/group_child.hpp"

#include "base/close_from.hpp"
#include "base/exec_strings.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/socket.h>
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

// The child replaces its standard streams one after the other.
FileDescriptor above_the_streams(const FileDescriptor& file) {
  FileDescriptor copy{::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (!copy) {
    throw system_failure(errno, "cannot duplicate a pipe");
  }
  return copy;
}

// Our end is the one to write to, or the one to read from.
ChildPipe make_child_pipe(bool to_child) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw system_failure(errno, "cannot make a pipe");
  }
  FileDescriptor reading{ends[0]};
  FileDescriptor writing{ends[1]};
  FileDescriptor theirs = above_the_streams(to_child ? reading : writing);
  FileDescriptor& ours = to_child ? writing : reading;
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  return {.ours = std::move(ours), .theirs = std::move(theirs)};
}

// Closed at the child's side once the command runs.
ChildPipe make_child_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure(errno, "cannot make a socket");
  }
  const FileDescriptor theirs{ends[1]};
  return {.ours = FileDescriptor{ends[0]}, .theirs = above_the_streams(theirs)};
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

// The child's work between fork() and exec(), in a program with threads: nothing but system calls. It waits until its
// guard stands, and ends if its parent does before that: the command never runs without a guard.
struct GroupStart {
  static constexpr int kept_line = STDERR_FILENO + 1;

  const char* program;
  char* const* words;
  char* const* variables;
  int input;  // negative: nothing to read
  int output;
  int errors;       // negative: ours
  int line;         // brings the word to start, and takes the errno if the program cannot be run
  int parents_end;  // of the line

  [[noreturn]] void run() const {
    ::setpgid(0, 0);
    ::close(parents_end);
    char word = 0;
    if (::read(line, &word, 1) != 1) {
      ::_exit(1);
    }
    if (::dup2(input >= 0 ? input : ::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0) {
      fail(line, errno);
    }
    ::dup2(output, STDOUT_FILENO);
    if (errors >= 0) {
      ::dup2(errors, STDERR_FILENO);
    }
    if (line != kept_line) {
      ::dup2(line, kept_line);
    }
    ::fcntl(kept_line, F_SETFD, FD_CLOEXEC);
    close_from(kept_line + 1);
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) {
      ::sigaction(signal, &usual, nullptr);
    }
    sigset_t none{};
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(program, words, variables);
    fail(kept_line, errno);
  }

  [[noreturn]] static void fail(int to, int error) {
    (void)!::write(to, &error, sizeof error);
    ::_exit(1);
  }
};

// With all signals blocked, so that no handler of ours runs in the child.
pid_t fork_unsignalled() {
  sigset_t all{};
  sigset_t former{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  const pid_t process = ::fork();
  const int error = errno;
  if (process != 0) {
    ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  }
  if (process < 0) {
    throw system_failure(error, "cannot start a process");
  }
  return process;
}

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
  ChildPipe line = make_child_line();
  const std::vector<char*> arguments = exec_pointers(words);
  const std::vector<char*> environment = exec_pointers(variables);
  const GroupStart start{.program = program->c_str(),
                         .words = arguments.data(),
                         .variables = environment.data(),
                         .input = input.theirs.get(),
                         .output = output.theirs.get(),
                         .errors = errors.theirs.get(),
                         .line = line.theirs.get(),
                         .parents_end = line.ours.get()};
  process_ = fork_unsignalled();
  if (process_ == 0) {
    start.run();
  }
  ::setpgid(process_, process_);
  line.theirs.close();
  watch();
  (void)::send(line.ours.get(), "", 1, MSG_NOSIGNAL);
  ssize_t heard = 0;
  do {
    heard = ::recv(line.ours.get(), &why_not_, sizeof why_not_, MSG_WAITALL);
  } while (heard < 0 && errno == EINTR);
  if (heard > 0) {
    (void)collect();
    return;
  }
  input_ = std::move(input.ours);
  output_ = std::move(output.ours);
  errors_ = std::move(errors.ours);
}

GroupChild::~GroupChild() {
  if (process_ > 0) {
    (void)collect();
  }
}

void GroupChild::watch() {
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

siginfo_t GroupChild::collect() {
  guard_.reset();
  ::kill(-process_, SIGKILL);
  siginfo_t how{};
  while (::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED) != 0 && errno == EINTR) {
  }
  process_ = -1;
  return how;
}

}  // namespace zeus
