#include "base/output_relay.hpp"

#include "base/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace zeus {
namespace {

struct Seen {
  int code = -1;
  std::array<std::string, 2> heard;
  OutputRelay::Lost lost;
};

// Runs a shell script through a relay.
Seen relayed(int output, int error, const std::string& script) {
  Seen seen;
  OutputRelay relay{output, error};
  const auto listen = [&](std::size_t channel, std::string_view bytes) { seen.heard.at(channel) += bytes; };
  ChildProcess child{{.command = {"sh", "-c", script}, .environment = Environment::of_process(), .before_command = [&] {
                        relay.attach();
                      }}};
  relay.attached();
  std::optional<int> code;
  while (!code) {
    std::vector<pollfd> wanted = relay.wanted();
    code = child.wait_for(Seconds{60}, wanted);
    relay.move(wanted, listen);
  }
  while (!relay.drain(listen)) {
    std::vector<pollfd> waited_for = relay.waited_for();
    (void)::poll(waited_for.data(), waited_for.size(), 60'000);
  }
  seen.code = *code;
  seen.lost = relay.lost();
  return seen;
}

class OutputFiles : public testing::Test {
 protected:
  FileDescriptor open(const char* name) const {
    return FileDescriptor{::open((folder_.path() / name).c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
  }
  std::string content(const char* name) const {
    std::ifstream file{folder_.path() / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  test::TemporaryFolder folder_;
};

using OutputRelayTest = OutputFiles;

TEST_F(OutputRelayTest, PassesEveryByteOnUnchanged) {
  const FileDescriptor out = open("out");
  const FileDescriptor err = open("err");
  const Seen seen = relayed(
      out.get(), err.get(),
      R"SH(i=0; while [ $i -lt 256 ]; do printf "\\$(printf %03o $i)"; i=$((i+1)); done; echo no >&2; exit 3)SH");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(seen.code, 3);
  EXPECT_EQ(content("out"), all);
  EXPECT_EQ(seen.heard[0], all);
  EXPECT_EQ(content("err"), "no\n");
  EXPECT_EQ(seen.heard[1], "no\n");
}

TEST_F(OutputRelayTest, GoesOnWhereTheDiskIsFullAndCountsWhatIsLost) {
  const FileDescriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
  const FileDescriptor err = open("err");
  const Seen seen = relayed(full.get(), err.get(), "echo one; echo two; echo saved >&2; exit 4");
  EXPECT_EQ(seen.code, 4);
  EXPECT_EQ(content("err"), "saved\n");
  EXPECT_EQ(seen.lost.bytes, 8U);
  EXPECT_EQ(seen.lost.error, ENOSPC);
}

TEST_F(OutputRelayTest, KeepsTheOrderIfBothAreTheSameFile) {
  const FileDescriptor out = open("both");
  const Seen seen = relayed(out.get(), out.get(), "for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done");
  EXPECT_EQ(content("both"), "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\no6\ne6\no7\ne7\no8\ne8\n");
  EXPECT_EQ(seen.heard[0], content("both"));
  EXPECT_EQ(seen.heard[1], "");
}

TEST_F(OutputRelayTest, PassesMegabytesWithoutALineEnd) {
  const FileDescriptor out = open("out");
  const Seen seen = relayed(out.get(), out.get(), "head -c 8388608 /dev/zero");
  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(content("out"), std::string(8388608, '\0'));
}

TEST_F(OutputRelayTest, HoldsTheCommandUpForASlowReader) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor source{ends[0]};
  FileDescriptor target{ends[1]};
  std::size_t count = 0;
  std::jthread reader{[&] {
    std::array<char, 100000> buffer{};
    ssize_t read = 0;
    while ((read = ::read(source.get(), buffer.data(), buffer.size())) > 0) {
      count += static_cast<std::size_t>(read);
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }};
  const FileDescriptor err = open("err");
  const Seen seen = relayed(target.get(), err.get(), "head -c 4000000 /dev/zero; echo done >&2");
  EXPECT_EQ(seen.code, 0);
  target.close();
  reader.join();
  EXPECT_EQ(count, 4000000U);
  EXPECT_EQ(content("err"), "done\n");
}

TEST_F(OutputRelayTest, ShowsTheCommandThatTheReaderIsGone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  FileDescriptor source{ends[0]};
  const FileDescriptor target{ends[1]};
  source.close();
  const FileDescriptor err = open("err");
  const Seen seen = relayed(target.get(), err.get(), "yes; echo \"yes: $?\" >&2");
  EXPECT_EQ(content("err"), "yes: " + std::to_string(128 + SIGPIPE) + "\n");
  EXPECT_EQ(seen.code, 0);
}

TEST_F(OutputRelayTest, DoesNotWaitForProcessesLeftRunning) {
  const FileDescriptor out = open("out");
  const Seen seen = relayed(out.get(), out.get(), "(sleep 60; echo late) & echo now");
  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(content("out"), "now\n");
}

// A file takes everything at once, so it is the bytes that are counted, not the turns.
TEST_F(OutputRelayTest, DoesNotFollowProcessesThatWriteOn) {
  const FileDescriptor out = open("out");
  OutputRelay relay{out.get(), out.get()};
  std::size_t heard = 0;
  const auto listen = [&](std::size_t, std::string_view bytes) { heard += bytes.size(); };
  ChildProcess child{{.command = {"sh", "-c", "head -c 100000000 /dev/zero & exit 5"},
                      .environment = Environment::of_process(),
                      .before_command = [&] { relay.attach(); }}};
  relay.attached();
  EXPECT_EQ(child.wait_for(Seconds{60}), 5);
  EXPECT_TRUE(relay.drain(listen));
  EXPECT_LE(heard, (1U << 20) + OutputRelay::most_pending);
}

// What it has not taken is lost; the listener still sees all of it, and the other channel goes on.
TEST_F(OutputRelayTest, GivesUpAReaderThatTakesNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor source{ends[0]};
  const FileDescriptor target{ends[1]};
  const auto room = static_cast<std::size_t>(::fcntl(target.get(), F_GETPIPE_SZ));
  const FileDescriptor err = open("err");
  OutputRelay relay{target.get(), err.get()};
  std::array<std::string, 2> heard;
  const auto listen = [&](std::size_t channel, std::string_view bytes) { heard.at(channel) += bytes; };
  ChildProcess child{{.command = {"sh", "-c", "head -c $(($0 + 50000)) /dev/zero; echo done >&2", std::to_string(room)},
                      .environment = Environment::of_process(),
                      .before_command = [&] { relay.attach(); }}};
  relay.attached();
  std::optional<int> code;
  while (!code) {
    std::vector<pollfd> wanted = relay.wanted();
    code = child.wait_for(Seconds{60}, wanted);
    relay.move(wanted, listen);
  }
  EXPECT_FALSE(relay.drain(listen));
  EXPECT_EQ(content("err"), "done\n");
  EXPECT_EQ(relay.waited_for().size(), 1U);
  relay.give_up();
  EXPECT_TRUE(relay.drain(listen));
  EXPECT_EQ(relay.lost().bytes, 50000U);
  EXPECT_EQ(heard[0].size(), room + 50000);
}

TEST_F(OutputRelayTest, ShowsATerminalOfTheSameSizeIfOursIsOne) {
  const FileDescriptor ours{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  ASSERT_TRUE(ours && ::grantpt(ours.get()) == 0 && ::unlockpt(ours.get()) == 0);
  const FileDescriptor screen{::open(::ptsname(ours.get()), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  const winsize size{.ws_row = 17, .ws_col = 91, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(ours.get(), TIOCSWINSZ, &size);
  const Seen seen = relayed(screen.get(), screen.get(), "test -t 1 && test -t 2 && stty size <&1");
  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.heard[0], "17 91\n");
  std::array<char, 64> buffer{};
  const ssize_t count = ::read(ours.get(), buffer.data(), buffer.size());
  EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(count)), "17 91\r\n");
}

TEST_F(OutputRelayTest, PassesANewSizeOfTheTerminalOn) {
  const FileDescriptor ours{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  ASSERT_TRUE(ours && ::grantpt(ours.get()) == 0 && ::unlockpt(ours.get()) == 0);
  const FileDescriptor screen{::open(::ptsname(ours.get()), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  OutputRelay relay{screen.get(), screen.get()};
  EXPECT_FALSE(relay.follow_window_size());
  const winsize size{.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(ours.get(), TIOCSWINSZ, &size);
  EXPECT_TRUE(relay.follow_window_size());
  EXPECT_FALSE(relay.follow_window_size());
}

}  // namespace
}  // namespace zeus
