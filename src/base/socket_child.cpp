#include "base/socket_child.hpp"

#include "base/inherited_socket.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <thread>

namespace zeus {

namespace {

struct SocketChildSpawn {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  explicit SocketChildSpawn(int socket) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, socket, inherited_socket_number);
    ::posix_spawnattr_init(&attributes);
    sigset_t all{};
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &all);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SocketChildSpawn(const SocketChildSpawn&) = delete;
  SocketChildSpawn& operator=(const SocketChildSpawn&) = delete;
  ~SocketChildSpawn() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
};

}  // namespace

SocketChild::SocketChild(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const FileDescriptor& theirs) {
  // Above the descriptor that the file actions replace.
  const FileDescriptor moved{::fcntl(theirs.get(), F_DUPFD_CLOEXEC, inherited_socket_number + 1)};
  if (!moved) {
    throw system_failure(errno, "cannot duplicate a socket");
  }
  const SocketChildSpawn plan{moved.get()};
  std::string name = program.string();
  std::vector<std::string> texts = arguments;
  std::vector<char*> pointers{name.data()};
  std::ranges::transform(texts, std::back_inserter(pointers), [](std::string& text) { return text.data(); });
  pointers.push_back(nullptr);
  if (const int error =
          ::posix_spawn(&process_, name.c_str(), &plan.actions, &plan.attributes, pointers.data(), ::environ)) {
    throw system_failure(error, fmt::format("cannot start {}", name));
  }
}

bool SocketChild::wait(Seconds patience) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                                  std::chrono::duration<double>{patience.value()});
  while (!ended_) {
    const pid_t ended = ::waitpid(process_, nullptr, WNOHANG);
    ended_ = ended == process_ || (ended < 0 && errno != EINTR);
    if (!ended_ && steady_clock::now() >= deadline) {
      return false;
    }
    if (!ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  return true;
}

}  // namespace zeus
