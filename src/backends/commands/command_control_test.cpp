#include "backends/commands/command_control.hpp"

#include "base/log.hpp"
#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace zeus::backends::commands {
namespace {

using device::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CommandControlTest : public testing::Test {
 protected:
  CommandControl by(const std::string& overrides, bool with_driver = true) {
    const auto plan = std::make_shared<const OverridePlan>(overrides_from_toml(overrides, "o.toml"));
    return {plan, with_driver ? driver_ : nullptr, 3, command_environment(Environment{})};
  }
  // One shell command that replaces setting the power limit.
  CommandControl by_script(const std::string& script, const std::string& more = "") {
    return by("[set_power_limit]\n" + more + "commands = [ '''sh -c \"" + script + "\" ''' ]\n");
  }
  [[nodiscard]] std::string file() const { return (folder_.path() / "told").string(); }
  [[nodiscard]] std::string told() const {
    std::ifstream opened{file()};
    return {std::istreambuf_iterator<char>{opened}, {}};
  }
  [[nodiscard]] std::string logged() {
    const std::lock_guard guard{mutex_};
    return logged_;
  }

  std::shared_ptr<test::SettableGpu> driver_ = std::make_shared<test::SettableGpu>(0);
  test::TemporaryFolder folder_;
  std::mutex mutex_;
  std::string logged_;
  log::ScopedSink sink_{[this](log::Level level, std::string_view line) {
    const std::lock_guard guard{mutex_};
    logged_ += level == log::Level::error ? line : std::string_view{};
  }};
};

const Failure failed{Reason::unknown, "the command for this setting failed"};
const Failure late{Reason::timeout, "the command for this setting did not end in time"};

TEST_F(CommandControlTest, AnOperationWithCommandsRunsThemAndTheDriverIsNotAsked) {
  CommandControl control = by_script("echo {gpu_id} {power_limit_mw} {power_limit_w} > " + file());
  EXPECT_TRUE(control.set_power_limit(150.7_W));
  EXPECT_EQ(told(), "3 150700 150\n");
  EXPECT_THAT(driver_->log, IsEmpty());
}

TEST_F(CommandControlTest, EveryOtherGoesToTheDriver) {
  CommandControl control = by_script("exit 1");
  EXPECT_TRUE(control.set_persistence_mode(true));
  EXPECT_TRUE(control.lock_clocks(ClockDomain::sm, {210_MHz, 1410_MHz}));
  EXPECT_TRUE(control.reset_clocks(ClockDomain::memory));
  EXPECT_THAT(driver_->log, ElementsAre(HasSubstr("persistence"), "lock sm 210-1410", "unlock memory"));
}

TEST_F(CommandControlTest, WithoutADriverEveryOtherIsUnsupported) {
  CommandControl control = by("[set_power_limit]\ncommands = ['true']\n", false);
  EXPECT_TRUE(control.set_power_limit(150_W));
  EXPECT_EQ(control.set_persistence_mode(true).failure().reason, Reason::unsupported);
  EXPECT_EQ(control.reset_all_clocks().failure().reason, Reason::unsupported);
}

TEST_F(CommandControlTest, EachOperationHasItsOwnCommandsAndValues) {
  std::string overrides;
  const auto add = [&](const std::string& name, const std::string& places) {
    overrides += "[" + name + "]\ncommands = [\"sh -c 'echo " + name + " " + places + " >> " + file() + "'\"]\n";
  };
  add("set_persistence_mode", "{enabled}");
  add("set_gpu_locked_clocks", "{min_clock_mhz} {max_clock_mhz}");
  add("reset_gpu_locked_clocks", "");
  add("set_mem_locked_clocks", "{min_clock_mhz} {max_clock_mhz}");
  add("reset_mem_locked_clocks", "");
  add("reset_locked_clocks", "");
  CommandControl control = by(overrides);
  EXPECT_TRUE(control.set_persistence_mode(true));
  EXPECT_TRUE(control.set_persistence_mode(false));
  EXPECT_TRUE(control.lock_clocks(ClockDomain::graphics, {210_MHz, 1410_MHz}));
  EXPECT_TRUE(control.lock_clocks(ClockDomain::sm, {300_MHz, 300_MHz}));
  EXPECT_TRUE(control.lock_clocks(ClockDomain::memory, {810_MHz, 1215_MHz}));
  EXPECT_TRUE(control.reset_clocks(ClockDomain::graphics));
  EXPECT_TRUE(control.reset_clocks(ClockDomain::memory));
  EXPECT_TRUE(control.reset_all_clocks());
  EXPECT_EQ(told(),
            "set_persistence_mode 1\nset_persistence_mode 0\nset_gpu_locked_clocks 210 1410\n"
            "set_gpu_locked_clocks 300 300\nset_mem_locked_clocks 810 1215\nreset_gpu_locked_clocks\n"
            "reset_mem_locked_clocks\nreset_locked_clocks\n");
  EXPECT_THAT(driver_->log, IsEmpty());
}

TEST_F(CommandControlTest, ResettingAllClocksIsAnOperationOfItsOwn) {
  CommandControl control = by("[reset_gpu_locked_clocks]\ncommands = ['false']\n");
  EXPECT_TRUE(control.reset_all_clocks());
  EXPECT_THAT(driver_->log, ElementsAre("unlock graphics", "unlock memory"));
}

TEST_F(CommandControlTest, TheFirstFailureEndsThem) {
  CommandControl control = by("[reset_locked_clocks]\ncommands = [\"sh -c 'echo one >> " + file() +
                              "'\", 'false', \"sh -c 'echo two >> " + file() + "'\"]\n");
  EXPECT_EQ(control.reset_all_clocks().failure(), failed);
  EXPECT_EQ(told(), "one\n");
}

TEST_F(CommandControlTest, FailureDetailsAreInTheLogAndNotInTheOutcome) {
  CommandControl control = by_script("echo secret; printf 'a\\033[2Jb' >&2; exit 7");
  EXPECT_EQ(control.set_power_limit(150_W).failure(), failed);
  EXPECT_THAT(logged(), HasSubstr("GPU 3: set_power_limit: `sh -c echo secret;"));
  EXPECT_THAT(logged(), HasSubstr("exit code 7; output: 'secret\\n'; errors: 'a\\x1b[2Jb'"));
  EXPECT_THAT(logged(), Not(HasSubstr("\x1b")));
}

TEST_F(CommandControlTest, WhatCannotBeStartedFails) {
  CommandControl control = by("[set_power_limit]\ncommands = ['/no/such/program']\n");
  EXPECT_EQ(control.set_power_limit(150_W).failure(), failed);
  EXPECT_THAT(logged(), HasSubstr("it cannot be started: No such file or directory"));
}

TEST_F(CommandControlTest, WhatIsKilledFails) {
  EXPECT_EQ(by_script("kill -9 0").set_power_limit(150_W).failure(), failed);
  EXPECT_THAT(logged(), HasSubstr("it was killed by signal 9"));
}

TEST_F(CommandControlTest, AnErrorPatternIsLookedForInOutputAndErrors) {
  const std::string pattern = "error_pattern = 'Not [Ss]upported|(?s)first.*last'\n";
  EXPECT_EQ(by_script("echo Not supported", pattern).set_power_limit(150_W).failure(), failed);
  EXPECT_EQ(by_script("echo Not Supported >&2", pattern).set_power_limit(150_W).failure(), failed);
  EXPECT_EQ(by_script("echo last >&2; echo first", pattern).set_power_limit(150_W).failure(), failed);
  EXPECT_TRUE(by_script("echo last; echo first >&2", pattern).set_power_limit(150_W));
  EXPECT_TRUE(by_script("echo all is well", pattern).set_power_limit(150_W));
}

TEST_F(CommandControlTest, OutputTooLongToSearchIsAFailureIfThereIsAPattern) {
  const std::string much = "head -c 100000 /dev/zero";
  EXPECT_TRUE(by_script(much).set_power_limit(150_W));
  EXPECT_EQ(by_script(much, "error_pattern = 'x'\n").set_power_limit(150_W).failure(), failed);
}

TEST_F(CommandControlTest, AChildThatKeepsThePipeIsAFailureOnlyIfThereIsAPatternInRealTime) {
  EXPECT_TRUE(by_script("sleep 600 & exit 0").set_power_limit(150_W));
  EXPECT_EQ(by_script("sleep 600 & exit 0", "error_pattern = 'x'\n").set_power_limit(150_W).failure(), failed);
}

TEST_F(CommandControlTest, ACommandThatDoesNotEndIsATimeoutInRealTime) {
  CommandControl control = by_script("trap '' TERM; while :; do echo more; done", "timeout_s = 1\n");
  EXPECT_EQ(control.set_power_limit(150_W).failure(), late);
  EXPECT_THAT(logged(), HasSubstr("it did not end within 1 s, and was killed"));
  EXPECT_LT(logged().size(), 16'384U);
}

TEST_F(CommandControlTest, SeveralGpusAreSetAtOnceInRealTime) {
  // Each waits for the other: if they ran one after the other, they would wait until the timeout.
  const std::string overrides = "[set_power_limit]\ntimeout_s = 600\ncommands = [\"sh -c 'touch " + file() +
                                "{gpu_id}; until [ -e " + file() + "0 ] && [ -e " + file() +
                                "1 ]; do sleep 0.01; done'\"]\n";
  const auto plan = std::make_shared<const OverridePlan>(overrides_from_toml(overrides, "o.toml"));
  std::vector<device::DiscoveredGpu> gpus(2);
  set_by_commands(gpus, plan, Environment{});
  std::vector<Outcome> outcomes(2);
  std::thread other{[&] { outcomes[1] = gpus[1].control->set_power_limit(150_W); }};
  outcomes[0] = gpus[0].control->set_power_limit(150_W);
  other.join();
  EXPECT_TRUE(outcomes[0]);
  EXPECT_TRUE(outcomes[1]);
}

TEST_F(CommandControlTest, AnEmptyPlanLeavesTheDriverAlone) {
  std::vector<device::DiscoveredGpu> gpus{{.gpu = driver_, .control = driver_}};
  set_by_commands(gpus, std::make_shared<const OverridePlan>(), Environment{});
  EXPECT_EQ(gpus[0].control.get(), static_cast<device::GpuControl*>(driver_.get()));
}

TEST_F(CommandControlTest, SaysHowLongAnOperationMayTake) {
  const CommandControl control = by("[set_power_limit]\ntimeout_s = 5\ncommands = ['true', 'true']\n");
  EXPECT_EQ(control.longest(), Seconds{12});
}

TEST(CommandEnvironment, IsPathAndLanguage) {
  const Environment::Variables ours{
      {"LD_PRELOAD", "x.so"}, {"ZEUSD_TOKEN", "t"}, {"LANG", "de_DE"}, {"PATH", "/opt/bin"}};
  EXPECT_EQ(command_environment(Environment{ours}).variables(),
            (Environment::Variables{{"LANG", "C.UTF-8"}, {"PATH", "/opt/bin"}}));
  EXPECT_THAT(command_environment(Environment{}).get("PATH").value(), HasSubstr(":/usr/bin:"));
}

}  // namespace
}  // namespace zeus::backends::commands
