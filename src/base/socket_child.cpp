#include "base/socket_child.hpp"

#include "base/inherited_socket.hpp"
#include "base/poll_deadline.hpp"
#include "base/spawn_plan.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

namespace zeus {

SocketChild::SocketChild(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const FileDescriptor& theirs) {
  // Above the descriptor that the file actions replace.
  const FileDescriptor moved{::fcntl(theirs.get(), F_DUPFD_CLOEXEC, inherited_socket_number + 1)};
  if (!moved) {
    throw system_failure(errno, "cannot duplicate a socket");
  }
  SpawnPlan plan{SpawnPlan::Signals::blocked, SpawnPlan::Group::ours};
  plan.open_null(STDIN_FILENO);
  plan.duplicate(moved.get(), inherited_socket_number);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  process_ = plan.spawn(std::move(words));
}

bool SocketChild::wait(Seconds patience) {
  const PollDeadline deadline = deadline_after(patience);
  while (!ended_) {
    const pid_t ended = ::waitpid(process_, nullptr, WNOHANG);
    ended_ = ended == process_ || (ended < 0 && errno != EINTR);
    if (!ended_ && is_over(deadline)) {
      return false;
    }
    if (!ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  return true;
}

}  // namespace zeus
