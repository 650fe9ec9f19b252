#include "cli/doctor_command.hpp"

#include "cli/program.hpp"
#include "control/ledger.hpp"
#include "records/json_value.hpp"
#include "tests/support/fake_machine.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace zeus::cli {
namespace {

constexpr const char* no_capability = "Name:\tzeus\nCapEff:\t0000000000000000\n";
constexpr const char* all_capabilities = "Name:\tzeus\nCapEff:\t000001ffffffffff\n";

class DoctorCommandTest : public ::testing::Test {
 protected:
  std::string run(const std::vector<std::string>& flags, std::vector<device::Backend*> backends) {
    std::ostringstream out;
    Context context{out, err_, clock_, environment_, std::move(backends), files_};
    Commands commands;
    commands.push_back(std::make_unique<DoctorCommand>());
    std::vector<std::string> arguments{"doctor"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_program("1.2.3", commands, arguments, context), exit_ok);
    EXPECT_EQ(err_.str(), "");
    // Each run has another root folder.
    std::string text = out.str();
    for (std::size_t at = text.find(folder_.path().string()); at != std::string::npos;
         at = text.find(folder_.path().string())) {
      text.erase(at, folder_.path().string().size());
    }
    return text;
  }

  std::ostringstream err_;
  VirtualClock clock_;
  test::TemporaryFolder folder_;
  // The machine's own folder would show the leases of programs that run beside the tests.
  Environment environment_{{{"ZEUS_STATE_DIR", (folder_.path() / "state").string()}}};
  FileTree files_{folder_.path()};
  test::FakeMachine machine_{clock_};
};

TEST_F(DoctorCommandTest, ReportsWhetherEachPartWorksAndItsFix) {
  files_.write_durably("proc/self/status", no_capability);
  test::expect_golden("cli/doctor.txt", run({}, {&machine_.gpus, &machine_.cpus}));
}

TEST_F(DoctorCommandTest, ColoursStatesOnRequest) {
  files_.write_durably("proc/self/status", no_capability);
  const std::string text = run({"--color", "always"}, {&machine_.gpus, &machine_.cpus});
  EXPECT_THAT(text, testing::HasSubstr("\x1b[32mok      \x1b[0m "));
  EXPECT_THAT(text, testing::HasSubstr("\x1b[31mproblem \x1b[0m "));
}

TEST_F(DoctorCommandTest, ACpuCounterThatStandsStillIsAProblem) {
  const auto still = std::make_shared<test::FakeCpu>(0, "package-0");
  still->its_package = device::Stamped<Joules>{1_J, {}, {}};
  test::FakeBackend rapl{"rapl"};
  rapl.its_discovery.kind = device::DeviceKind::cpu;
  rapl.its_discovery.cpus = {still};
  EXPECT_THAT(run({}, {&rapl}), testing::HasSubstr("problem  package-0: its energy counter stands still\n"));
  EXPECT_THAT(run({}, {&machine_.cpus}), testing::Not(testing::HasSubstr("stands still")));
}

TEST_F(DoctorCommandTest, OnAMachineWithoutDevicesItReportsHowToGetThem) {
  test::FakeBackend nvml{"nvml"};
  nvml.its_discovery.absence = DeviceProblem{"NVIDIA driver", "it is not installed", "install it"};
  test::expect_golden("cli/doctor_none.txt", run({}, {&nvml}));
}

TEST_F(DoctorCommandTest, OnVirtualGpusItSaysNothingOfThisMachinesDrivers) {
  files_.write_durably("proc/self/status", all_capabilities);
  Environment::Variables variables = environment_.variables();
  variables["ZEUS_VIRTUAL_SESSION"] = "/proc/1/fd/3";
  environment_ = Environment{variables};
  test::FakeBackend amd{"amdsmi"};
  amd.its_discovery.absence =
      DeviceProblem{"AMD driver", "its kernel module is not loaded", "run `sudo modprobe amdgpu`"};
  const std::string text = run({}, {&machine_.gpus, &amd});
  EXPECT_THAT(text, testing::HasSubstr("ok       virtual: the GPUs here are simulated"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("AMD driver")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("persistence mode")));
}

TEST_F(DoctorCommandTest, ASessionThatIsOverOrAnotherUsersIsNamedRatherThanADriver) {
  Environment::Variables variables = environment_.variables();
  variables["ZEUS_VIRTUAL_SESSION"] = "/proc/1/fd/3";
  environment_ = Environment{variables};
  test::FakeBackend nvml{"nvml"};
  nvml.its_discovery.problems = {{"NVIDIA driver", "its kernel module is not loaded", "run `sudo modprobe nvidia`"}};
  test::FakeBackend amd{"amdsmi"};
  amd.its_discovery.absence =
      DeviceProblem{"AMD driver", "its kernel module is not loaded", "run `sudo modprobe amdgpu`"};
  const std::string text = run({}, {&nvml, &amd});
  EXPECT_THAT(text, testing::HasSubstr("problem  virtual: the session of `zeus virtual` that this runs in is over"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("ok       virtual")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("modprobe")));
}

TEST_F(DoctorCommandTest, RootAndARunningDaemonAreSeen) {
  files_.write_durably("proc/self/status", all_capabilities);
  files_.write_durably("run/zeusd/zeusd.sock", "");
  const auto json = records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value();
  std::map<std::string, std::string> states;
  for (const auto& check : *json["checks"].list()) {
    states[*check["what"].string()] = *check["state"].string();
  }
  EXPECT_EQ(states["permissions"], "ok");
  EXPECT_EQ(states["daemon"], "ok");
}

TEST_F(DoctorCommandTest, WhatADeadHolderLeftIsAProblem) {
  std::filesystem::create_directories(folder_.path() / "state");
  const control::Ledger ledger{FileTree{folder_.path() / "state"}, files_};
  const std::string uuid = machine_.gpus.its_discovery.gpus[0].gpu->identity().uuid;
  control::LeaseRecord record{{77, Instant{60'000'000'000}, {4711, 5, "python3"}, {}}, uuid, "GPU 7", ledger.boot()};
  record.found.power_limit = 250_W;
  ledger.write(record);
  FileTree{folder_.path() / "state"}.write_durably("GPU-9.lease.json", "cut sh");
  const std::string text = run({}, {&machine_.gpus});
  EXPECT_NE(
      text.find("problem  GPU 0 (Tesla V100-SXM2-32GB): process 4711 (python3) ended without putting it back to power "
                "limit 250 W\n         fix: run `zeus restore`, which puts it back\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("problem  GPU-9: the record of the lease of GPU-9 in /state/GPU-9.lease.json cannot be read"),
            std::string::npos)
      << text;
}

TEST_F(DoctorCommandTest, NoLimitCanBeSetWhereNothingCanBeWrittenDown) {
  files_.write_durably("proc/self/status", all_capabilities);
  files_.write_durably("state", "a file");
  const std::string text = run({}, {&machine_.gpus});
  EXPECT_THAT(text, testing::HasSubstr("problem  /state: there may be records of leases in it, but it is not used, "
                                       "because it is not a folder\n"));
  EXPECT_THAT(text, testing::HasSubstr("problem  permissions: this user may set power limits and clocks, but they stay "
                                       "as they are: no folder can be used"));
  environment_ = Environment{{{"ZEUS_STATE_DIR", "here"}}};
  EXPECT_THAT(run({}, {&machine_.gpus}), testing::HasSubstr("problem  records of leases: ZEUS_STATE_DIR is 'here', "
                                                            "which is not absolute\n"));
}

TEST_F(DoctorCommandTest, ADaemonThatWasNamedAndIsNotThereIsAProblem) {
  environment_ = Environment{{{"ZEUSD_SOCK_PATH", "/run/mine.sock"}}};
  const std::string text = run({}, {&machine_.cpus});
  EXPECT_NE(text.find("problem  daemon: there is no socket at /run/mine.sock"), std::string::npos) << text;
}

}  // namespace
}  // namespace zeus::cli
