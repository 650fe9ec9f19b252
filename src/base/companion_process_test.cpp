#include "base/companion_process.hpp"

#include "base/clock.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>

namespace zeus {
namespace {

// A shell that acts as a companion: it goes into the background and has its end of the socket as descriptor 3.
std::vector<std::string> script(const std::string& text) {
  return {"-c", "(" + text + ") <&3 >&3 &"};
}

TEST(CompanionProcess, TalksOverItsSocketAndIsNobodysChild) {
  CompanionProcess companion{"/bin/sh", script("echo ready; read byte; echo $byte")};
  EXPECT_EQ(companion.read_line(60_s), "ready");
  EXPECT_TRUE(companion.is_there());
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(CompanionProcess, IsInASessionOfItsOwn) {
  CompanionProcess companion{"/bin/sh", script("cut -d ' ' -f 6 /proc/self/stat")};
  const std::optional<std::string> session = companion.read_line(60_s);
  ASSERT_TRUE(session);
  EXPECT_NE(std::stol(*session), ::getsid(0));
}

TEST(CompanionProcess, ItsEndIsSeen) {
  CompanionProcess companion{"/bin/sh", script("exit")};
  EXPECT_EQ(companion.read_line(60_s), std::nullopt);
  EXPECT_FALSE(companion.is_there());
  companion.nudge();
}

TEST(CompanionProcess, PatienceMayBeAsLongAsANumberIs) {
  CompanionProcess companion{"/bin/sh", script("echo ready; read byte")};
  EXPECT_EQ(companion.read_line(Seconds{1e300}), "ready");
}

TEST(CompanionProcess, SilenceIsNoLine) {
  CompanionProcess companion{"/bin/sh", script("echo unfinished | tr -d '\\n'; sleep 60")};
  EXPECT_EQ(companion.read_line(20_ms), std::nullopt);
}

TEST(CompanionProcess, ALineWithoutAnEndIsNoLine) {
  CompanionProcess companion{"/bin/sh", script("yes | tr -d '\\n'")};
  EXPECT_EQ(companion.read_line(600_s), std::nullopt);
  companion.kill();
}

TEST(CompanionProcess, KillingItEndsAllThatItHasStarted) {
  CompanionProcess companion{"/bin/sh", script("sleep 600 & echo $!; wait")};
  const std::optional<std::string> started = companion.read_line(60_s);
  ASSERT_TRUE(started);
  companion.kill();
  EXPECT_EQ(companion.read_line(600_s), std::nullopt) << "something still has the socket open";
}

TEST(CompanionProcess, AProgramThatDoesNotGoIntoTheBackgroundIsKilledAndNamed) {
  try {
    const CompanionProcess companion{"/bin/sh", {"-c", "sleep 600; exit"}, 50_ms};
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::timeout);
    EXPECT_NE(error.message().find("/bin/sh did not go into the background"), std::string::npos) << error.what();
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it was left behind";
}

TEST(CompanionProcess, AProgramThatIsNotThereIsAnError) {
  try {
    const CompanionProcess companion{"/no/such/program", {}};
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
  }
}

TEST(CompanionProcess, AForkedChildThatLivesOnDoesNotKeepTheConnectionOpen) {
  const test::TemporaryFolder folder;
  const std::string seen = (folder.path() / "over").string();
  auto companion = std::make_unique<CompanionProcess>("/bin/sh", script("read line; touch " + seen));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  companion.reset();
  SystemClock clock;
  const Instant deadline = clock.now() + 60_s;
  while (!std::filesystem::exists(seen) && clock.now() < deadline) {
    clock.sleep_until(clock.now() + 1_ms);
  }
  EXPECT_TRUE(std::filesystem::exists(seen));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(CompanionProcess, EndingItInAForkedChildDoesNotEndItForTheParent) {
  auto companion = std::make_unique<CompanionProcess>("/bin/sh", script("echo ready; read line; echo over"));
  EXPECT_EQ(companion->read_line(60_s), "ready");
  const pid_t child = ::fork();
  if (child == 0) {
    companion.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(companion->is_there());
}

}  // namespace
}  // namespace zeus
