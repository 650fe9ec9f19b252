#include "run/watched_command.hpp"

#include "base/orphans.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace zeus::run {
namespace {

constexpr Seconds long_enough{60};

class WatchedCommandTest : public testing::Test {
 protected:
  WatchedCommand::Plan plan(const std::string& script, const PatternTexts& patterns = {}) {
    return {.command = {"sh", "-c", script},
            .environment = Environment::of_process(),
            .variables = {},
            .patterns = patterns,
            .output = file_.get(),
            .error = file_.get(),
            .grace = long_enough};
  }
  // Of a command that must be killed.
  WatchedCommand::Plan impatient(const std::string& script) {
    WatchedCommand::Plan made = plan(script);
    made.grace = Seconds{0.2};
    return made;
  }
  // Runs it to its end, and returns its progress in short form.
  std::string run(const WatchedCommand::Plan& plan) {
    WatchedCommand command{plan, clock_};
    std::string text;
    while (!command.exit_code()) {
      text += describe(command.wait(long_enough));
    }
    code_ = *command.exit_code();
    seen_ = command.seen();
    return text;
  }
  static std::string describe(const std::vector<trial::Progress>& progress) {
    std::string text;
    for (const trial::Progress& one : progress) {
      if (const auto* steps = std::get_if<trial::StepsDone>(&one)) {
        text += "s" + std::to_string(steps->count);
      } else if (const auto* epochs = std::get_if<trial::EpochsDone>(&one)) {
        text += "e" + std::to_string(epochs->count);
      } else {
        text += "m" + std::to_string(std::get<trial::MetricSeen>(one).value).substr(0, 3);
      }
    }
    return text;
  }
  [[nodiscard]] std::string output() const {
    std::ifstream file{folder_.path() / "output", std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  // Waits until the shell has made a file of that name.
  void wait_for(WatchedCommand& command, const char* name) {
    while (!std::filesystem::exists(folder_.path() / name)) {
      (void)command.wait(Seconds{0.01});
    }
  }
  [[nodiscard]] std::string path(const char* name) const { return (folder_.path() / name).string(); }

  test::TemporaryFolder folder_;
  FileDescriptor file_{::open((folder_.path() / "output").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
  SystemClock clock_;
  int code_ = -1;
  WatchedCommand::Seen seen_;
};

// It writes faster than anyone reads; its end, and what it has left in the pipe, still come.
TEST_F(WatchedCommandTest, AFloodOfReportsHoldsUpNoSignalAndNoEnd) {
  WatchedCommand command{plan("yes step > $ZEUS_PROGRESS & touch " + path("began") + "; wait"), clock_};
  wait_for(command, "began");
  command.end();
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(*command.exit_code(), 128 + SIGTERM);
}

TEST_F(WatchedCommandTest, SeesProgressOnBothStreamsAndLeavesThemAlone) {
  const std::string text = "printf 'epoch 1 acc 0.5\\n'; printf 'epoch 2 acc 0.7' >&2; exit 4";
  EXPECT_EQ(run(plan(text, {.metric = "acc ([0-9.]+)", .epoch = R"(epoch (\d+))"})), "m0.5e1m0.7e1");
  EXPECT_EQ(code_, 4);
  EXPECT_EQ(output(), "epoch 1 acc 0.5\nepoch 2 acc 0.7");
}

// Its end is not seen before its last progress, however late that is taken.
TEST_F(WatchedCommandTest, EndsWithItsLastProgressInRealTime) {
  WatchedCommand command{plan("printf 'epoch 1 acc 0.5\\n'", {.metric = "acc ([0-9.]+)", .epoch = R"(epoch (\d+))"}),
                         clock_};
  clock_.sleep_until(clock_.now() + Seconds{0.2});
  EXPECT_EQ(command.exit_code(), std::nullopt);
  std::string progress;
  while (!command.exit_code()) {
    progress += describe(command.wait(long_enough));
  }
  EXPECT_EQ(progress, "m0.5e1");
}

TEST_F(WatchedCommandTest, ReadsReportsFromTheVariablesFileWithoutInheritance) {
  const std::string text =
      "echo step 20 > $ZEUS_PROGRESS; echo hm >> $ZEUS_PROGRESS; (echo epoch; echo metric 0.25) >> $ZEUS_PROGRESS";
  EXPECT_EQ(run(plan(text)), "s20e1m0.2");
  EXPECT_EQ(seen_.reports, 3U);
  EXPECT_EQ(seen_.strange_reports, 1U);
}

TEST_F(WatchedCommandTest, CountsProgressOnceIfItIsPrintedAndReported) {
  // Goes on after each piece once that was seen, since what comes by different ways at the same time has no order.
  const std::string text = "seen() { while [ ! -e " + path("$1") +
                           " ]; do sleep 0.01; done; }; "
                           "for e in 1 2; do echo step >> $ZEUS_PROGRESS; seen s$e; echo step 1; echo acc 0.$e; "
                           "seen m$e; echo epoch >> $ZEUS_PROGRESS; done";
  WatchedCommand command{plan(text, {.metric = "acc ([0-9.]+)", .step = R"(step (\d+))"}), clock_};
  std::string expected;
  std::string seen;
  const std::vector<std::pair<const char*, const char*>> pieces{
      {"s1", "s1"}, {"m1", "m0.1e1"}, {"s2", "s1"}, {"m2", "m0.2e1"}};
  for (const auto& [file, piece] : pieces) {
    expected += piece;
    const Instant until = clock_.now() + long_enough;
    while (seen.size() < expected.size() && clock_.now() < until) {
      seen += describe(command.wait(long_enough));
    }
    ASSERT_EQ(seen, expected);
    const std::ofstream made{path(file)};
  }
  while (!command.exit_code()) {
    seen += describe(command.wait(long_enough));
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(WatchedCommandTest, GivesTheCommandItsVariables) {
  WatchedCommand::Plan wanted = plan("echo $ZEUS_BATCH_SIZE $PYTHONUNBUFFERED");
  wanted.variables = {{"ZEUS_BATCH_SIZE", "32"}};
  run(wanted);
  EXPECT_EQ(output(), "32 1\n");
}

TEST_F(WatchedCommandTest, EndsTheWholeGroup) {
  WatchedCommand command{plan("sleep 600 & echo $! > " + path("child") + "; : > " + path("ready") + "; wait"), clock_};
  wait_for(command, "ready");
  command.end();
  EXPECT_TRUE(command.told_to_end());
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 128 + SIGTERM);
  EXPECT_FALSE(command.asked_to_end());
  pid_t child = 0;
  std::ifstream{path("child")} >> child;
  EXPECT_TRUE(::kill(child, 0) != 0 || std::ifstream{"/proc/" + std::to_string(child) + "/cmdline"}.peek() == EOF);
}

// What it leaves behind becomes a child of this process, and looks alive until it is collected.
TEST_F(WatchedCommandTest, DoesNotWaitForAGroupThatHasEndedInRealTime) {
  adopt_orphans();
  const WatchedCommand::Plan patient = plan("sleep 600 & : > " + path("ready") + "; wait");
  WatchedCommand command{patient, clock_};
  wait_for(command, "ready");
  command.end();
  const Instant told = clock_.now();
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 128 + SIGTERM);
  EXPECT_LT(clock_.now() - told, patient.grace);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// As in a container whose first process collects no orphans: here that is a process of the test.
TEST_F(WatchedCommandTest, DoesNotWaitForProcessesThatAreOnlyUncollectedInRealTime) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t runner = ::fork();
  if (runner == 0) {
    const WatchedCommand::Plan patient = plan("sleep 600 & : > " + path("ready") + "; wait");
    Instant told;
    {
      WatchedCommand command{patient, clock_};
      wait_for(command, "ready");
      told = clock_.now();
      command.end();
      while (!command.exit_code()) {
        (void)command.wait(long_enough);
      }
    }
    ::_exit(clock_.now() - told < patient.grace ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(runner, &status, 0), runner);
  EXPECT_EQ(status, 0);
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(WatchedCommandTest, KillsACommandThatDoesNotEnd) {
  WatchedCommand command{impatient("trap '' TERM; : > " + path("ready") + "; while :; do sleep 0.01; done"), clock_};
  wait_for(command, "ready");
  command.end();
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 128 + SIGKILL);
}

TEST_F(WatchedCommandTest, KnowsThatASignalAskedForTheEnd) {
  WatchedCommand command{plan("trap 'exit 0' INT; : > " + path("ready") + "; while :; do sleep 0.01; done"), clock_};
  wait_for(command, "ready");
  EXPECT_FALSE(command.asked_to_end());
  ::kill(::getpid(), SIGINT);
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 0);
  EXPECT_EQ(command.asked_to_end(), SIGINT);
}

TEST_F(WatchedCommandTest, KillsACommandThatIgnoresASignalThatEndsUs) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    std::filesystem::remove(path("ready"));
    WatchedCommand command{impatient("trap '' TERM HUP; : > " + path("ready") + "; while :; do sleep 0.01; done"),
                           clock_};
    wait_for(command, "ready");
    ::kill(::getpid(), signal);
    while (!command.exit_code()) {
      (void)command.wait(long_enough);
    }
    EXPECT_EQ(command.exit_code(), 128 + signal);
    EXPECT_EQ(command.asked_to_end(), signal);
    EXPECT_FALSE(command.told_to_end());
  }
}

TEST_F(WatchedCommandTest, HeedsASignalThatWasNoticedBetweenTwoWaits) {
  WatchedCommand command{impatient("trap '' TERM; : > " + path("ready") + "; while :; do sleep 0.01; done"), clock_};
  wait_for(command, "ready");
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(command.asked_to_end(), SIGTERM);
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 128 + SIGTERM);
}

TEST_F(WatchedCommandTest, LetsAnInterruptBeHandledOnceAndEndsWithTheSecond) {
  WatchedCommand command{impatient("trap ': > " + path("once") + "' INT; trap '' TERM; : > " + path("ready") +
                                   "; while :; do sleep 0.01; done"),
                         clock_};
  wait_for(command, "ready");
  ::kill(::getpid(), SIGINT);
  wait_for(command, "once");
  (void)command.wait(Seconds{0.5});
  EXPECT_FALSE(command.exit_code());
  ::kill(::getpid(), SIGINT);
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 128 + SIGINT);
}

TEST_F(WatchedCommandTest, ReportsACommandThatCannotRun) {
  WatchedCommand::Plan wanted = plan("");
  wanted.command = {"/nowhere/train"};
  run(wanted);
  EXPECT_EQ(code_, ChildProcess::exit_not_found);
}

TEST_F(WatchedCommandTest, ReturnsWhenTheTimeIsUp) {
  WatchedCommand command{plan("sleep 600"), clock_};
  EXPECT_TRUE(command.wait(Seconds{0.01}).empty());
  EXPECT_FALSE(command.exit_code());
}

TEST_F(WatchedCommandTest, KnowsWhetherALineIsOpen) {
  WatchedCommand command{plan("printf 'half'; sleep 600"), clock_};
  bool open = false;
  while (!open && !command.exit_code()) {
    (void)command.wait(Seconds{0.01});
    command.between_its_output([&](bool mid_line) { open = mid_line; });
  }
  EXPECT_TRUE(open);
}

// More than a pipe holds, and then a signal, while the main thread is busy elsewhere.
TEST_F(WatchedCommandTest, PassesOutputAndSignalsOnWhileNothingWaitsForIt) {
  WatchedCommand command{plan("trap 'echo asked; exit 3' TERM; head -c 300000 /dev/zero; : > " + path("ready") +
                              "; while :; do sleep 0.01; done"),
                         clock_};
  const Instant until = clock_.now() + long_enough;
  const auto wait_for = [&](const auto& done) {
    while (!done() && clock_.now() < until) {
      clock_.sleep_until(clock_.now() + Seconds{0.01});
    }
    return done();
  };
  ASSERT_TRUE(wait_for([&] { return std::filesystem::exists(path("ready")); }));
  ::kill(::getpid(), SIGTERM);
  ASSERT_TRUE(wait_for([&] { return output().ends_with("asked\n"); }));
  while (!command.exit_code()) {
    (void)command.wait(long_enough);
  }
  EXPECT_EQ(command.exit_code(), 3);
  EXPECT_EQ(command.asked_to_end(), SIGTERM);
  EXPECT_EQ(output().size(), 300000 + std::string{"asked\n"}.size());
}

// As in `zeus run -- cmd | less`: the command has ended, and what it printed fills the pipe. A signal ends the wait.
TEST_F(WatchedCommandTest, HeedsASignalWhileNothingReadsItsLastOutputInRealTime) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const FileDescriptor source{ends[0]};
    const FileDescriptor target{ends[1]};
    const auto room = std::to_string(::fcntl(target.get(), F_GETPIPE_SZ));
    WatchedCommand::Plan unread = plan("echo $$ > " + path("process") + "; head -c $((" + room +
                                       " + 50000)) /dev/zero; : > " + path("ready") + "; exit 3");
    unread.output = target.get();
    unread.error = target.get();
    WatchedCommand command{unread, clock_};
    wait_for(command, "ready");
    pid_t process = 0;
    std::ifstream{path("process")} >> process;
    while (::kill(process, 0) == 0) {
      EXPECT_TRUE(command.wait(Seconds{0.01}).empty());
    }
    EXPECT_FALSE(command.exit_code());
    ::kill(::getpid(), signal);
    EXPECT_EQ(command.asked_to_end(), signal);
    while (!command.exit_code()) {
      (void)command.wait(long_enough);
    }
    EXPECT_EQ(command.exit_code(), 3);
    EXPECT_EQ(command.seen().lost.bytes, 50000U);
    std::filesystem::remove(path("ready"));
  }
}

// The guard is the last that needs descriptors.
TEST_F(WatchedCommandTest, NeverRunsWithoutItsGuard) {
  const WatchedCommand::Plan plan = this->plan("mkdir " + path("ran"));
  rlimit former{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &former), 0);
  int refused = 0;
  bool started = false;
  for (rlim_t most = 3; !started; ++most) {
    const rlimit limit{.rlim_cur = most, .rlim_max = former.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    try {
      const WatchedCommand command{plan, clock_};
      started = true;
    } catch (const Error&) {
      ++refused;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &former), 0);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    ASSERT_TRUE(started || !std::filesystem::exists(path("ran")));
  }
  EXPECT_GT(refused, 3);
}

}  // namespace
}  // namespace zeus::run
