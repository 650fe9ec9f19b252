#include "cli/devices_command.hpp"

#include "cli/program.hpp"
#include "control/ledger.hpp"
#include "records/json_value.hpp"
#include "tests/support/fake_machine.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/indented.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace zeus::cli {
namespace {

class DevicesCommandTest : public ::testing::Test {
 protected:
  std::string run(const std::vector<std::string>& flags, std::vector<device::Backend*> backends) {
    Context context{out_, err_, clock_, environment_, std::move(backends)};
    Commands commands;
    commands.push_back(std::make_unique<DevicesCommand>());
    std::vector<std::string> arguments{"devices"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_program("1.2.3", commands, arguments, context), exit_ok);
    EXPECT_EQ(err_.str(), "");
    return out_.str();
  }

  std::ostringstream out_;
  std::ostringstream err_;
  VirtualClock clock_;
  // The machine's own folder would show the leases of programs that run beside the tests.
  test::TemporaryFolder folder_;
  Environment environment_{{{"ZEUS_STATE_DIR", folder_.path().string()}}};
  test::FakeMachine machine_{clock_};
};

TEST_F(DevicesCommandTest, TheTableShowsWhatEachDeviceDoesOrWhyThatIsUnknown) {
  test::expect_golden("cli/devices.txt", run({}, {&machine_.gpus, &machine_.cpus}));
}

TEST_F(DevicesCommandTest, TheJsonKeepsToItsContract) {
  const std::string printed = run({"--json"}, {&machine_.gpus, &machine_.cpus});
  EXPECT_EQ(std::ranges::count(printed, '\n'), 1);
  test::expect_golden("cli/devices.json", test::indented(printed));
}

// Every null has its reason under the same key beside it.
void expect_reasons(const records::JsonValue& value) {
  if (value.object() != nullptr) {
    for (const auto& [key, member] : *value.object()) {
      if (member.is_null()) {
        EXPECT_TRUE(value["reason"].find(key)) << key;
      }
      expect_reasons(member);
    }
  }
  if (value.list() != nullptr) {
    for (const auto& element : *value.list()) {
      expect_reasons(element);
    }
  }
}

TEST_F(DevicesCommandTest, UnknownValuesAreNullWithAReasonAndNeverMissingKeys) {
  const auto json = records::JsonValue::parse(run({"--json"}, {&machine_.gpus, &machine_.cpus})).value();
  expect_reasons(json);
  for (const auto& gpu : *json["gpus"].list()) {
    for (const char* key : {"index", "uuid", "name", "pci", "driver", "energy_counter", "update_period_s",
                            "power_limit_w", "clocks_mhz", "power_w", "holder", "client"}) {
      EXPECT_TRUE(gpu.find(key)) << key;
    }
    for (const char* key : {"current", "default", "min", "max", "enforced"}) {
      EXPECT_TRUE(gpu["power_limit_w"].find(key)) << key;
    }
  }
}

TEST_F(DevicesCommandTest, OnAMachineWithoutDevicesItReportsWhatIsMissing) {
  test::FakeBackend nvml{"nvml"};
  nvml.its_discovery.absence = DeviceProblem{"NVIDIA driver", "it is not installed", "install it"};
  test::FakeBackend rapl{"rapl"};
  rapl.its_discovery.kind = device::DeviceKind::cpu;
  rapl.its_discovery.absence = DeviceProblem{"CPU packages", "there is no RAPL", "run `sudo modprobe intel_rapl_msr`"};
  test::expect_golden("cli/devices_none.txt", run({}, {&nvml, &rapl}));
}

TEST_F(DevicesCommandTest, ShowsTheHolderOfALease) {
  const control::Ledger ledger{FileTree{folder_.path()}, FileTree{}};
  const std::string uuid = machine_.gpus.its_discovery.gpus[0].gpu->identity().uuid;
  const auto lock = ledger.lock(uuid);
  const auto work = lock->begin_work(clock_, 1_s);
  ledger.write({{77, Instant{60'000'000'000}, {4711, 5, "python3"}, {}}, uuid, "GPU 0", ledger.boot()});
  EXPECT_TRUE(records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value()["gpus"][0]["holder"].is_null());
  out_.str("");
  lock->hold(77);
  const auto json = records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value();
  EXPECT_EQ(json["gpus"][0]["holder"], records::JsonValue::parse(R"({"pid":4711,"command":"python3"})"));
  EXPECT_TRUE(json["gpus"][0]["client"].is_null());
  EXPECT_TRUE(json["gpus"][1]["holder"].is_null());
}

TEST_F(DevicesCommandTest, ShowsTheClientOfALeaseNextToItsHolder) {
  const control::Ledger ledger{FileTree{folder_.path()}, FileTree{}};
  const std::string uuid = machine_.gpus.its_discovery.gpus[0].gpu->identity().uuid;
  control::LeaseRecord record{{77, Instant{60'000'000'000}, {12, 5, "zeusd"}, {}}, uuid, "GPU 0", ledger.boot()};
  record.client = {.user = 1000, .process = Holder{4711, 9, "python3"}};
  record.found.power_limit = 250_W;
  const auto lock = ledger.lock(uuid);
  const auto work = lock->begin_work(clock_, 1_s);
  ledger.write(record);
  EXPECT_NE(run({}, {&machine_.gpus})
                .find("process 12 (zeusd) for user 1000's process 4711 "
                      "(python3) ended without putting it back to power limit 250 W"),
            std::string::npos);
  out_.str("");
  lock->hold(77);
  const auto json = records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value();
  EXPECT_EQ(json["gpus"][0]["holder"], records::JsonValue::parse(R"({"pid":12,"command":"zeusd"})"));
  EXPECT_EQ(
      json["gpus"][0]["client"],
      records::JsonValue::parse(
          R"({"user":1000,"process":{"pid":4711,"command":"python3"},"control_group":null,"token":null,)"
          R"("reason":{"control_group":"its holder did not report it","token":"its holder did not report it"}})"));
}

TEST_F(DevicesCommandTest, TheListBeginsEachGpuWithTheNumberThatProgramsKnowItBy) {
  environment_ = Environment{{{"ZEUS_STATE_DIR", folder_.path().string()}, {"CUDA_VISIBLE_DEVICES", "1"}}};
  const std::string text = run({}, {&machine_.gpus});
  const std::size_t seen = text.find("\n  0  Tesla V100-SXM2-32GB\n    machine's index 1\n");
  const std::size_t hidden = text.find("\n  -  Tesla V100-SXM2-32GB, hidden from programs\n    machine's index 0\n");
  EXPECT_LT(seen, hidden) << text;
  EXPECT_NE(hidden, std::string::npos) << text;
}

TEST_F(DevicesCommandTest, ReportsWhatADeadHolderLeftAndHowToRestoreIt) {
  const control::Ledger ledger{FileTree{folder_.path()}, FileTree{}};
  const std::string uuid = machine_.gpus.its_discovery.gpus[0].gpu->identity().uuid;
  control::LeaseRecord record{{77, Instant{60'000'000'000}, {4711, 5, "python3"}, {}}, uuid, "GPU 7", ledger.boot()};
  ledger.write(record);
  EXPECT_EQ(records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value()["problems"].list()->size(), 0U)
      << "it had changed nothing";
  record.found.power_limit = 250_W;
  ledger.write(record);
  out_.str("");
  const auto problem = records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value()["problems"][0];
  EXPECT_EQ(*problem["device"].string(), "GPU 0 (Tesla V100-SXM2-32GB)");
  EXPECT_EQ(*problem["what"].string(), "process 4711 (python3) ended without putting it back to power limit 250 W");
  EXPECT_EQ(*problem["fix"].string(), "run `zeus restore`, which puts it back");
  EXPECT_EQ(FileTree{folder_.path()}.list("").size(), 1U) << "looking leaves nothing behind";
}

TEST_F(DevicesCommandTest, VisibilityIsThatOfThePrograms) {
  environment_ = Environment{{{"ZEUS_STATE_DIR", folder_.path().string()}, {"CUDA_VISIBLE_DEVICES", "1,9"}}};
  const auto json = records::JsonValue::parse(run({"--json"}, {&machine_.gpus})).value();
  EXPECT_TRUE(json["gpus"][0]["visible_as"].is_null());
  EXPECT_EQ(json["gpus"][1]["visible_as"].whole<int>(), 0);
  EXPECT_EQ(*json["problems"][0]["device"].string(), "CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace zeus::cli
