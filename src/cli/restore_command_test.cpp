#include "cli/restore_command.hpp"

#include "cli/program.hpp"
#include "control/ledger.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/indented.hpp"
#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <sstream>

namespace zeus::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RestoreCommandTest : public ::testing::Test {
 protected:
  RestoreCommandTest() {
    machine_.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
    std::filesystem::create_directories(state_);
    for (int i = 0; i < 4; ++i) {
      gpus_.push_back(std::make_shared<test::SettableGpu>(i));
      gpus_.back()->its_limits.current = 120_W;
      nvml_.its_discovery.gpus.push_back(test::discovered(gpus_.back()));
    }
  }

  // GPU 0 was left by a dead holder, 1 is held, 2 was left before the machine restarted, 3 refuses, 4 is out of sight,
  // and the record of 5 is cut short.
  void leave_something_of_everything() {
    const control::Ledger ledger{FileTree{state_}, machine_};
    for (int i = 0; i < 6; ++i) {
      control::LeaseRecord record{{77 + i, Instant{60'000'000'000}, {4711 + i, 5, "python3"}, {}},
                                  fmt::format("GPU-{}", i),
                                  fmt::format("GPU {} (Tesla V100)", i),
                                  "this-boot"};
      record.found.power_limit = 250_W;
      if (i == 0) {
        record.found.clocks[ClockDomain::sm] = {};
        record.found.persistence_mode = false;
      }
      if (i == 1) {
        const auto lock = ledger.lock(record.gpu);
        const auto work = lock->begin_work(clock_, 1_s);
        lock->hold(record.lease);
        record.client = {.user = 1000, .process = Holder{77, 8, "python3"}};
      }
      record.boot = i == 2 ? "an-earlier-boot" : record.boot;
      ledger.write(record);
    }
    gpus_[3]->its_refusals["power"] =
        Failure{Reason::permission, "settings need root, or CAP_SYS_ADMIN in a container"};
    FileTree{state_}.write_durably("GPU-5.lease.json", "{\"version\": 1");
  }

  // What it prints, with this run's folder replaced by a name that all runs share.
  std::string run(const std::vector<std::string>& flags, int expected) {
    std::ostringstream out;
    Context context{out, out, clock_, environment_, {&nvml_}, machine_};
    Commands commands;
    commands.push_back(std::make_unique<RestoreCommand>());
    std::vector<std::string> arguments{"restore"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_program("1.2.3", commands, arguments, context), expected);
    std::string text = out.str();
    if (const std::size_t at = text.find(state_); at != std::string::npos) {
      text.replace(at, state_.size(), "/run/zeus");
    }
    return text;
  }

  test::TemporaryFolder temporary_;
  std::string state_ = (temporary_.path() / "state").string();
  FileTree machine_{temporary_.path() / "machine"};
  Environment environment_{{{"ZEUS_STATE_DIR", state_}}};
  VirtualClock clock_;
  std::vector<std::shared_ptr<test::SettableGpu>> gpus_;
  test::FakeBackend nvml_{"nvml"};
};

TEST_F(RestoreCommandTest, ReportsTheResultForEachGpu) {
  leave_something_of_everything();
  test::expect_golden("cli/restore.txt", run({}, exit_failure));
  EXPECT_EQ(gpus_[0]->its_limits.current, 250_W);
  EXPECT_EQ(gpus_[1]->its_limits.current, 120_W);
  EXPECT_EQ(gpus_[2]->its_limits.current, 120_W);
}

TEST_F(RestoreCommandTest, SaysTheSameAsJson) {
  leave_something_of_everything();
  const std::string printed = run({"--json"}, exit_failure);
  EXPECT_EQ(std::ranges::count(printed, '\n'), 1);
  test::expect_golden("cli/restore.json", test::indented(printed));
}

TEST_F(RestoreCommandTest, WithNothingLeftThereIsNothingToDo) {
  EXPECT_EQ(run({}, exit_ok), "nothing to put back\n");
  EXPECT_EQ(run({"--json"}, exit_ok), "{\"gpus\":[]}\n");
  environment_ = Environment{{{"ZEUS_STATE_DIR", state_ + "/missing"}}};
  EXPECT_EQ(run({}, exit_ok), "nothing to put back: ZEUS_STATE_DIR names '/run/zeus/missing', which does not exist\n");
}

TEST_F(RestoreCommandTest, ALockThatAKilledProcessLeftIsRemoved) {
  const FileTree folder{state_};
  folder.write_durably("GPU-0.lock", "");
  EXPECT_EQ(run({}, exit_ok), "nothing to put back\n");
  EXPECT_THAT(folder.list(""), testing::IsEmpty());
}

TEST_F(RestoreCommandTest, AFolderThatCannotBeUsedIsAFailureRatherThanNothing) {
  leave_something_of_everything();
  ASSERT_EQ(::chmod(state_.c_str(), 0777), 0);
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--json"}}) {
    const std::string text = run(flags, exit_failure);
    EXPECT_THAT(text, HasSubstr("zeus: /run/zeus: there may be records of leases in it, but it is not used, because "
                                "other users may replace files in it; "));
    EXPECT_THAT(text, Not(HasSubstr("nothing to put back")));
  }
  ASSERT_EQ(::chmod(state_.c_str(), 0700), 0);
  EXPECT_THAT(run({}, exit_failure), HasSubstr("GPU 0 (Tesla V100): put back to power limit 250 W"));
}

TEST_F(RestoreCommandTest, OneGpuIsNamedByItsNumberOrItsUuid) {
  leave_something_of_everything();
  EXPECT_THAT(run({"--gpu", "0"}, exit_ok), HasSubstr("GPU 0 (Tesla V100): put back to power limit 250 W"));
  EXPECT_EQ(run({"--gpu", "0"}, exit_ok), "nothing to put back\n");
  EXPECT_THAT(run({"--gpu", "GPU-4"}, exit_failure), HasSubstr("cannot be seen from here"));
}

TEST_F(RestoreCommandTest, AGpuThatIsGoneForGoodIsForgottenAndNoOther) {
  leave_something_of_everything();
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--forget"}, {"--forget", "--gpu", "0"}}) {
    EXPECT_THAT(run(flags, exit_bad_usage), HasSubstr("--forget is for one GPU that cannot be seen from here"));
  }
  EXPECT_EQ(gpus_[0]->its_limits.current, 120_W) << "something was put back";
  EXPECT_THAT(run({"--gpu", "GPU-4", "--forget"}, exit_ok), HasSubstr("GPU-4: forgotten; process"));
  EXPECT_THAT(run({"--gpu", "GPU-4"}, exit_bad_usage), HasSubstr("there is no GPU 'GPU-4'"));
}

TEST_F(RestoreCommandTest, AnAnswerThatNamesNoGpuIsBadUsage) {
  leave_something_of_everything();
  for (const std::string name : {"9", "99999999999999999999", "-1", "0,0", "00", "GPU-6", "GPU-", "gpu 0"}) {
    EXPECT_EQ(run({"--gpu=" + name}, exit_bad_usage),
              "zeus: there is no GPU '" + name +
                  "'; name one by its number or its whole UUID, as `zeus devices` shows them\n");
  }
  EXPECT_EQ(gpus_[0]->its_limits.current, 120_W) << "something was put back";
}

TEST_F(RestoreCommandTest, NumbersAreThoseThatProgramsSeeAndHiddenGpusGoByTheirUuid) {
  leave_something_of_everything();
  environment_ = Environment{{{"ZEUS_STATE_DIR", state_}, {"CUDA_VISIBLE_DEVICES", "2,0"}}};
  EXPECT_THAT(run({"--gpu", "0"}, exit_ok), HasSubstr("GPU 0 (Tesla V100): nothing to put back"));
  EXPECT_THAT(run({"--gpu", "2"}, exit_bad_usage), HasSubstr("there is no GPU '2'"));
  EXPECT_THAT(run({"--gpu", "GPU-1", "--json"}, exit_ok), HasSubstr(R"("index":null,"uuid":"GPU-1","result":"held")"));
  EXPECT_THAT(run({"--gpu", "1"}, exit_ok), HasSubstr("GPU 1 (Tesla V100): put back to power limit 250 W"));
  EXPECT_EQ(gpus_[0]->its_limits.current, 250_W);
}

}  // namespace
}  // namespace zeus::cli
