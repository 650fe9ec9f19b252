#include "transport/peer.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "tests/support/running_server.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <optional>

namespace zeus::transport {
namespace {

using test::comes_true;
using test::RawClient;
using test::RunningServer;

class Seen {
 public:
  HttpServer::Handler handler() {
    return [this](const std::shared_ptr<Exchange>& exchange) {
      const std::lock_guard guard{mutex_};
      peer_ = exchange->peer();
      exchange->answer({});
    };
  }
  Peer wait() {
    Peer seen;
    EXPECT_TRUE(comes_true([&] {
      const std::lock_guard guard{mutex_};
      if (peer_) {
        seen = *std::exchange(peer_, std::nullopt);
        return true;
      }
      return false;
    }));
    return seen;
  }

 private:
  std::mutex mutex_;
  std::optional<Peer> peer_;
};

bool has_ended(const FileDescriptor& process) {
  pollfd asked{process.get(), POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

// Sends one request as the users and groups of `become`, and stays until the pipe ends.
pid_t fork_client(const std::filesystem::path& path, const FileDescriptor& stays, void (*become)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    become();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const std::string_view request{"GET / HTTP/1.1\r\nHost: h\r\n\r\n"};
    char byte = 0;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::send(socket, request.data(), request.size(), 0) > 0 && ::recv(socket, &byte, 1, 0) == 1) {
      ::read(stays.get(), &byte, 1);
      ::_exit(0);
    }
    ::_exit(1);
  }
  return child;
}

TEST(Peer, IsTheProcessThatConnectedInRealTime) {
  Seen seen;
  const RunningServer running{seen.handler()};
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor stays{ends[0]};
  const FileDescriptor ends_it{ends[1]};
  const pid_t child = fork_client(running.path(), stays, [] {});
  const Peer peer = seen.wait();
  ASSERT_TRUE(peer.local);
  EXPECT_EQ(peer.local->pid, child);
  EXPECT_EQ(peer.local->user, ::geteuid());
  EXPECT_EQ(peer.local->group, ::getegid());
  EXPECT_EQ(peer.local->started, find_holder(FileTree{}, child)->started);
  EXPECT_NE(peer.local->started, 0U);
  EXPECT_NE(peer.connection, 0U);
  ASSERT_TRUE(peer.local->process);
  EXPECT_FALSE(has_ended(*peer.local->process));
  EXPECT_NE(::fcntl(peer.local->process->get(), F_GETFD) & FD_CLOEXEC, 0);
  ::kill(child, SIGKILL);
  EXPECT_TRUE(comes_true([&] { return has_ended(*peer.local->process); }));
  ::waitpid(child, nullptr, 0);
}

TEST(Peer, IsTheUserThatConnectedWithItsGroupsInRealTime) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root becomes another user";
  }
  Seen seen;
  const RunningServer running{seen.handler()};
  ASSERT_EQ(::chmod(running.path().c_str(), 0666), 0);
  ASSERT_EQ(::chmod(running.path().parent_path().c_str(), 0755), 0);
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor stays{ends[0]};
  const FileDescriptor ends_it{ends[1]};
  const pid_t child = fork_client(running.path(), stays, [] {
    gid_t groups[50] = {};
    for (gid_t i = 0; i < 50; ++i) {
      groups[i] = 7000 + i;
    }
    if (::setgroups(50, groups) != 0 || ::setgid(4321) != 0 || ::setuid(1234) != 0) {
      ::_exit(2);
    }
  });
  const Peer peer = seen.wait();
  ASSERT_TRUE(peer.local);
  EXPECT_EQ(peer.local->pid, child);
  EXPECT_EQ(peer.local->user, 1234U);
  EXPECT_EQ(peer.local->group, 4321U);
  ASSERT_EQ(peer.local->groups.size(), 50U);
  EXPECT_EQ(peer.local->groups.front(), 7000U);
  EXPECT_EQ(peer.local->groups.back(), 7049U);
  EXPECT_TRUE(peer.local->process);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(Peer, HasNoProcessOnceThatHasEndedInRealTime) {
  Seen seen;
  RunningServer running{seen.handler()};
  std::promise<void> goes_on;
  running.loop().post([&] { goes_on.get_future().wait(); });
  const pid_t child = ::fork();
  if (child == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, running.path().c_str(), sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const std::string_view request{"GET / HTTP/1.1\r\nHost: h\r\n\r\n"};
    ::_exit(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    ::send(socket, request.data(), request.size(), 0) > 0
                ? 0
                : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  goes_on.set_value();
  const Peer peer = seen.wait();
  ASSERT_TRUE(peer.local);
  EXPECT_EQ(peer.local->user, ::geteuid());
  EXPECT_FALSE(peer.local->process);
  EXPECT_EQ(peer.local->started, 0U);
}

TEST(Peer, HasAnAddressOverTcpInRealTime) {
  Seen seen;
  const RunningServer running{seen.handler()};
  RawClient client{std::stoi(running.tcp().substr(running.tcp().rfind(':') + 1))};
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const Peer peer = seen.wait();
  EXPECT_FALSE(peer.local);
  EXPECT_EQ(peer.address, "127.0.0.1");
}

}  // namespace
}  // namespace zeus::transport
