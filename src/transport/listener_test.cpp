#include "transport/listener.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace zeus::transport {
namespace {

using std::filesystem::path;

bool connects(const path& to) {
  const FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, to.c_str(), sizeof address.sun_path - 1);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

struct stat status_of(const path& file) {
  struct stat status {};
  EXPECT_EQ(::lstat(file.c_str(), &status), 0) << file;
  return status;
}

std::vector<std::string> names_in(const path& folder) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator{folder}) {
    names.push_back(each.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

ErrorKind kind_of_refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_FALSE(error.advice().empty()) << error.what();
    return error.kind();
  }
  return ErrorKind::internal;
}

// A socket that a server has left behind.
void leave_socket(const path& at) {
  const FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, at.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
}

TEST(UnixListener, MakesItsSocketWithTheRightsThatWereAskedFor) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "a" / "b" / "socket";
  const UnixListener listener = listen_on_unix({.path = at, .mode = 0620});
  EXPECT_TRUE(connects(at));
  EXPECT_TRUE(S_ISSOCK(status_of(at).st_mode));
  EXPECT_EQ(status_of(at).st_mode & 07777U, 0620U);
  EXPECT_EQ(names_in(at.parent_path()), (std::vector<std::string>{"socket", "socket.lock"}));
  remove_unix_socket(at, listener);
  EXPECT_EQ(names_in(at.parent_path()), std::vector<std::string>{});
}

TEST(UnixListener, GivesItsSocketToUserAndGroup) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  constexpr uid_t user = 12345;
  constexpr gid_t group = 23456;
  const UnixListener listener = listen_on_unix({.path = at, .mode = 0660, .user = user, .group = group});
  EXPECT_EQ(status_of(at).st_uid, user);
  EXPECT_EQ(status_of(at).st_gid, group);
}

TEST(UnixListener, ReplacesASocketWithoutAListener) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  leave_socket(at);
  EXPECT_FALSE(connects(at));
  const UnixListener listener = listen_on_unix({.path = at});
  EXPECT_TRUE(connects(at));
}

// A server is killed while it starts a program: that program's process holds its files open until the program runs.
TEST(UnixListener, WaitsAMomentForWhatAKilledServerHasLeftOpenInRealTime) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  pid_t child = -1;
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor held{ends[0]};
  FileDescriptor conflict_is_seen{ends[1]};
  {
    const UnixListener listener = listen_on_unix({.path = at});
    child = ::fork();
    if (child == 0) {
      ::close(ends[1]);
      char byte = 0;
      while (::read(ends[0], &byte, 1) > 0) {
      }
      ::usleep(100'000);
      ::_exit(0);
    }
  }
  EXPECT_EQ(kind_of_refusal([&] { listen_on_unix({.path = at}); }), ErrorKind::conflict);
  conflict_is_seen.close();
  const UnixListener listener = listen_on_unix({.path = at, .patience = 60_s});
  EXPECT_TRUE(connects(at));
  ::waitpid(child, nullptr, 0);
}

TEST(UnixListener, LeavesASocketWithAListenerAlone) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  const UnixListener listener = listen_on_unix({.path = at});
  EXPECT_EQ(kind_of_refusal([&] { listen_on_unix({.path = at}); }), ErrorKind::conflict);
  // A server that does not know the lock counts, too.
  std::filesystem::remove(folder.path() / "socket.lock");
  EXPECT_EQ(kind_of_refusal([&] { listen_on_unix({.path = at}); }), ErrorKind::conflict);
  EXPECT_TRUE(connects(at));
}

TEST(UnixListener, LeavesWhatIsNoSocket) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  std::ofstream{at} << "precious";
  EXPECT_EQ(kind_of_refusal([&] { listen_on_unix({.path = at}); }), ErrorKind::invalid_argument);
  EXPECT_EQ(std::filesystem::file_size(at), 8U);
  std::filesystem::remove(at);
  std::filesystem::create_symlink("elsewhere", at);
  EXPECT_EQ(kind_of_refusal([&] { listen_on_unix({.path = at}); }), ErrorKind::invalid_argument);
}

TEST(UnixListener, ReportsAPathThatIsTooLong) {
  const test::TemporaryFolder folder;
  const std::size_t room = sizeof sockaddr_un{}.sun_path - 1 - folder.path().string().size() - 1;
  const path longest = folder.path() / std::string(room, 'x');
  const UnixListener listener = listen_on_unix({.path = longest});
  EXPECT_TRUE(connects(longest));
  EXPECT_EQ(kind_of_refusal([&] { listen_on_unix({.path = folder.path() / std::string(room + 1, 'x')}); }),
            ErrorKind::invalid_argument);
}

TEST(UnixListener, IsOneOfThoseThatStartAtOnceInRealTime) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  for (int round = 0; round < 50; ++round) {
    if (round % 2 == 1) {
      leave_socket(at);
    }
    constexpr std::size_t servers = 4;
    std::vector<UnixListener> listeners(servers);
    std::vector<std::thread> threads;
    std::atomic<bool> starts{false};
    std::atomic<int> conflicts{0};
    for (std::size_t i = 0; i < servers; ++i) {
      threads.emplace_back([&, i] {
        while (!starts) {
        }
        try {
          listeners[i] = listen_on_unix({.path = at});
        } catch (const Error& error) {
          conflicts += error.kind() == ErrorKind::conflict ? 1 : 0;
        }
      });
    }
    starts = true;
    for (std::thread& each : threads) {
      each.join();
    }
    EXPECT_EQ(conflicts, 3);
    EXPECT_TRUE(connects(at));
    for (const UnixListener& each : listeners) {
      if (each.socket) {
        remove_unix_socket(at, each);
      }
    }
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
  }
}

TEST(UnixListener, RemovesNothingOfItsSuccessor) {
  const test::TemporaryFolder folder;
  const path at = folder.path() / "socket";
  const UnixListener first = listen_on_unix({.path = at});
  std::filesystem::remove(at);
  std::filesystem::remove(folder.path() / "socket.lock");
  const UnixListener second = listen_on_unix({.path = at});
  remove_unix_socket(at, first);
  EXPECT_TRUE(connects(at));
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"socket", "socket.lock"}));
}

TEST(TcpListener, ListensOnEachAddressOfAName) {
  const std::vector<FileDescriptor> sockets = listen_on_tcp("localhost:0");
  ASSERT_FALSE(sockets.empty());
  const std::string address = address_of(sockets.front());
  EXPECT_TRUE(address.starts_with("127.0.0.1:") || address.starts_with("[::1]:")) << address;
  EXPECT_FALSE(address.ends_with(":0"));
  EXPECT_EQ(kind_of_refusal([&] { listen_on_tcp(address); }), ErrorKind::conflict);
}

TEST(TcpListener, RefusesWhatIsNoAddress) {
  for (const char* const text :
       {"", "localhost", ":80", "localhost:", "localhost:http", "localhost:123456", "::1:80"}) {
    EXPECT_EQ(kind_of_refusal([&] { listen_on_tcp(text); }), ErrorKind::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace zeus::transport
