#include "base/socket_child.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace zeus {
namespace {

std::array<FileDescriptor, 2> socket_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

std::string line_from(const FileDescriptor& socket) {
  std::string line;
  for (char one = 0; ::read(socket.get(), &one, 1) == 1 && one != '\n';) {
    line += one;
  }
  return line;
}

TEST(SocketChild, TalksOverItsSocketAndEndsWithItInRealTime) {
  auto [ours, theirs] = socket_pair();
  SocketChild child{"/bin/sh", {"-c", "echo ready >&3; read line <&3; test \"$line\" = bye"}, theirs};
  theirs.close();
  EXPECT_EQ(line_from(ours), "ready");
  EXPECT_FALSE(child.wait(0_s)) << "it still reads";
  ours.close();
  EXPECT_TRUE(child.wait(60_s));
  EXPECT_TRUE(child.wait(0_s)) << "its end is remembered";
}

TEST(SocketChild, AnEndOfItsSocketIsSeenAndNoSignalEndsItBeforeInRealTime) {
  auto [ours, theirs] = socket_pair();
  SocketChild child{"/bin/sh", {"-c", "echo ready >&3; read line <&3; echo over >&3"}, theirs};
  theirs.close();
  EXPECT_EQ(line_from(ours), "ready");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ASSERT_EQ(::kill(child.id(), signal), 0);
  }
  ASSERT_EQ(::write(ours.get(), "go on\n", 6), 6);
  EXPECT_EQ(line_from(ours), "over");
  EXPECT_EQ(line_from(ours), "") << "the socket has ended";
  EXPECT_TRUE(child.wait(60_s));
}

TEST(SocketChild, AProgramThatIsNotThereIsAnError) {
  const auto ends = socket_pair();
  try {
    const SocketChild child{"/no/such/program", {}, ends[1]};
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
  }
}

}  // namespace
}  // namespace zeus
