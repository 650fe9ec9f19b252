#include "base/child_process.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace zeus {
namespace {

constexpr Seconds long_enough{60.0};

int code_of(std::vector<std::string> command, Environment environment = Environment::of_process()) {
  ChildProcess child{{.command = std::move(command), .environment = std::move(environment), .before_command = {}}};
  return child.wait_for(long_enough).value_or(-1);
}

std::string why_not_run(std::vector<std::string> command) {
  ChildProcess child{{.command = std::move(command), .environment = Environment::of_process(), .before_command = {}}};
  (void)child.wait_for(long_enough);
  return child.why_not_run().value_or("it was run");
}

TEST(ChildProcess, GivesTheCommandsExitCode) {
  EXPECT_EQ(code_of({"true"}), 0);
  EXPECT_EQ(code_of({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(code_of({"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST(ChildProcess, DistinguishesAMissingFileFromOneThatCannotBeExecuted) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "text").string();
  std::ofstream{file} << "text";
  EXPECT_EQ(code_of({"no-such-command-anywhere"}), ChildProcess::exit_not_found);
  EXPECT_EQ(code_of({file + "/below"}), ChildProcess::exit_not_found);
  EXPECT_EQ(code_of({file}), ChildProcess::exit_not_executable);
  EXPECT_EQ(why_not_run({"no-such-command-anywhere"}), "'no-such-command-anywhere' was not found (exit code 127)");
  EXPECT_EQ(why_not_run({file}), "'" + file + "' cannot be executed (exit code 126)");
  const std::string script = (folder.path() / "script").string();
  std::ofstream{script} << "#!/nosuch/python\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(why_not_run({script}),
            "'" + script + "' is there, but the interpreter that it names was not found (exit code 127)");
}

TEST(ChildProcess, BlamesNoCommandForTheExitCodesThatItChooses) {
  for (const char* const script : {"exit 127", "exit 126", "no-such-command-anywhere 2>/dev/null", "exit 0"}) {
    EXPECT_EQ(why_not_run({"sh", "-c", script}), "it was run") << script;
  }
}

TEST(ChildProcess, GivesTheCommandItsEnvironmentAndNoOther) {
  const Environment environment{{{"PATH", "/usr/bin:/bin"}, {"GREETING", "hello there"}}};
  EXPECT_EQ(code_of({"sh", "-c", "test \"$GREETING\" = 'hello there' && test -z \"$HOME\""}, environment), 0);
}

TEST(ChildProcess, WaitsNoLongerThanItShould) {
  ChildProcess child{{.command = {"sleep", "60"}, .environment = Environment::of_process(), .before_command = {}}};
  EXPECT_EQ(child.wait_for(Seconds{0.01}), std::nullopt);
  ::kill(child.process(), SIGTERM);
  EXPECT_EQ(child.wait_for(long_enough), 128 + SIGTERM);
  EXPECT_EQ(child.wait_for(long_enough), 128 + SIGTERM);
}

TEST(ChildProcess, PassesOnSignals) {
  const test::TemporaryFolder folder;
  const std::string ready = (folder.path() / "ready").string();
  ChildProcess child{{.command = {"sh", "-c", "trap 'exit 5' USR1; : > " + ready + "; while :; do sleep 0.01; done"},
                      .environment = Environment::of_process(),
                      .before_command = {}}};
  while (!std::filesystem::exists(ready)) {
    ASSERT_EQ(child.wait_for(Seconds{0.01}), std::nullopt);
  }
  ::kill(::getpid(), SIGUSR1);
  EXPECT_EQ(child.wait_for(long_enough), 5);
}

TEST(ChildProcess, NoticesSignalsAfterTheCommandHasEnded) {
  ::signal(SIGINT, SIG_DFL);  // a shell starts its background jobs with this one ignored
  ChildProcess child{{.command = {"true"}, .environment = Environment::of_process(), .before_command = {}}};
  ASSERT_EQ(child.wait_for(long_enough), 0);
  EXPECT_EQ(child.asked_to_end(), std::nullopt);
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(child.asked_to_end(), SIGINT);
  EXPECT_EQ(child.times_asked_to_end(), 1);
}

TEST(ChildProcess, RunsTheGivenFunctionBeforeTheCommand) {
  ChildProcess child{{.command = {"sh", "-c", "test $(pwd) = /"},
                      .environment = Environment::of_process(),
                      .before_command = [] { (void)!::chdir("/"); }}};
  EXPECT_EQ(child.wait_for(long_enough), 0);
}

TEST(ChildProcess, MayHaveAGroupOfItsOwn) {
  ChildProcess child{
      {.command = {"sleep", "60"}, .environment = Environment::of_process(), .own_group = true, .before_command = {}}};
  EXPECT_EQ(::getpgid(child.process()), child.process());
  ::kill(-child.process(), SIGTERM);
  EXPECT_EQ(child.wait_for(long_enough), 128 + SIGTERM);
}

TEST(ChildProcess, WhatFailsBeforeTheCommandLeavesItUnrun) {
  ChildProcess child{{.command = {"true"}, .environment = Environment::of_process(), .before_command = [] {
                        throw Error{ErrorKind::unavailable, "no load"};
                      }}};
  EXPECT_EQ(child.wait_for(Seconds{600}), ChildProcess::exit_not_executable);
  EXPECT_EQ(child.why_not_run(), "'true' cannot be executed (exit code 126)");
}

}  // namespace
}  // namespace zeus
