#include "cli/simulate_command.hpp"

#include "base/random.hpp"
#include "cli/simulate_cluster_command.hpp"
#include "cli/simulate_job_command.hpp"
#include "records/json_value.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/program_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace zeus::cli {
namespace {

using records::JsonValue;
using test::ProgramRun;

class SimulateCommandTest : public testing::Test {
 protected:
  SimulateCommandTest() {
    for (const int batch_size : {8, 16, 32, 64}) {
      for (int run = 1; run <= 4; ++run) {
        train_.push_back(fmt::format("d,n,{},sgd,0.1,{},0.5,{}", batch_size, run, 4 + batch_size / 16 + run % 2));
      }
      power_.push_back(fmt::format("d,n,{},sgd,100,{},95", batch_size, 800 + 4000 / batch_size));
      power_.push_back(fmt::format("d,n,{},sgd,200,{},180", batch_size, 600 + 3000 / batch_size));
    }
    write_traces();
  }

  void write_traces() const {
    std::ofstream train{folder_.path() / "train.csv"};
    std::ofstream power{folder_.path() / "power.csv"};
    train << "dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch\n"
          << fmt::format("{}\n", fmt::join(train_, "\n"));
    power << "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n"
          << fmt::format("{}\n", fmt::join(power_, "\n"));
  }

  ProgramRun run(const std::vector<std::string>& arguments) {
    Commands parts;
    parts.push_back(std::make_unique<SimulateJobCommand>());
    parts.push_back(std::make_unique<SimulateClusterCommand>());
    Commands commands;
    commands.push_back(std::make_unique<SimulateCommand>(std::move(parts)));
    return test::run_program(commands, arguments);
  }

  ProgramRun job(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"simulate",      "job",
                                          "--train-trace", (folder_.path() / "train.csv").string(),
                                          "--power-trace", (folder_.path() / "power.csv").string(),
                                          "--dataset",     "d",
                                          "--network",     "n",
                                          "--optimizer",   "sgd",
                                          "--max-epochs",  "50"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  test::TemporaryFolder folder_;
  std::vector<std::string> train_;  // rows
  std::vector<std::string> power_;
};

TEST_F(SimulateCommandTest, PrintsTheObjectOfTheContract) {
  const ProgramRun outcome = job({"--target-metric", "0.5", "--default-batch-size", "32", "--seeds", "3", "--json"});
  ASSERT_EQ(outcome.code, exit_ok) << outcome.err;
  const JsonValue object = JsonValue::parse(outcome.out).value();
  EXPECT_EQ(*object["workload"].string(), "d/n/sgd");
  EXPECT_EQ(*object["policy"].string(), "lookahead");
  EXPECT_EQ(object["recurrences"].whole<int>(), 16);
  EXPECT_EQ(object["cumulative_regret"].size(), 16U);
  for (const char* key : {"default", "optimum", "last5", "regret", "expected_regret", "history", "seeds"}) {
    EXPECT_TRUE(object.find(key)) << key;
  }
  EXPECT_TRUE(object["last5"]["expected_cost_ratio"].find("std"));
}

TEST_F(SimulateCommandTest, PrintsATableForPeople) {
  const ProgramRun outcome =
      job({"--target-metric", "0.5", "--default-batch-size", "32", "--seeds", "2", "--policy", "zeus"});
  EXPECT_EQ(outcome.code, exit_ok);
  test::expect_golden("cli/simulate_job.txt", outcome.out);
}

TEST_F(SimulateCommandTest, BadInputIsOneLineThatSaysWhatToDo) {
  using Arguments = std::vector<std::string>;
  const Arguments usual = {"--target-metric", "0.5", "--default-batch-size", "32"};
  for (const Arguments& change : std::vector<Arguments>{{"--eta", "1.5"},
                                                        {"--eta", "nan"},
                                                        {"--beta", "0"},
                                                        {"--beta", "-1"},
                                                        {"--policy", "guess"},
                                                        {"--recurrences", "0"},
                                                        {"--recurrences", "x"},
                                                        {"--gpus", "0"},
                                                        {"--in-flight", "0"},
                                                        {"--drift", "sideways"}}) {
    Arguments arguments = usual;
    arguments.insert(arguments.end(), change.begin(), change.end());
    const ProgramRun outcome = job(arguments);
    EXPECT_NE(outcome.code, exit_ok) << change[0] << ' ' << change[1];
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  const ProgramRun outside = job({"--target-metric", "0.5", "--default-batch-size", "33"});
  EXPECT_EQ(outside.code, exit_bad_usage);
  EXPECT_NE(outside.err.find("they have 8, 16, 32, 64"), std::string::npos) << outside.err;
  const ProgramRun target = job({"--target-metric", "0.9", "--default-batch-size", "32"});
  EXPECT_NE(target.err.find("it has 0.5"), std::string::npos) << target.err;
}

TEST_F(SimulateCommandTest, EveryPolicyRunsWithOverlapsDriftAndSeveralGpus) {
  for (const char* policy : {"zeus", "grid", "default", "oracle", "lookahead"}) {
    const ProgramRun outcome = job({"--target-metric", "0.5", "--default-batch-size", "32", "--policy", policy,
                                    "--in-flight", "3", "--gpus", "4", "--drift", "at=8,tilt=0.1", "--window", "5"});
    EXPECT_EQ(outcome.code, exit_ok) << policy << ": " << outcome.err;
  }
}

TEST_F(SimulateCommandTest, ReplaysABuiltInModelAndMovesItToOtherGpus) {
  const ProgramRun still =
      run({"simulate", "job", "--workload", "cifar100", "--gpu", "v100", "--recurrences", "30", "--json"});
  EXPECT_EQ(still.code, 0) << still.err;
  EXPECT_EQ(JsonValue::parse(still.out).value()["default"]["batch_size"].whole<int>(), 1024);
  const ProgramRun moved = run({"simulate", "job", "--workload", "cifar100", "--gpu", "v100", "--recurrences", "30",
                                "--move", "10:a40", "--json"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_NE(JsonValue::parse(moved.out).value()["optimum"], JsonValue::parse(still.out).value()["optimum"]);
  EXPECT_NE(run({"simulate", "job"}).err.find("there is no job to simulate"), std::string::npos);
}

TEST_F(SimulateCommandTest, AFlagThatWouldBeIgnoredIsRefused) {
  using Words = std::vector<std::string>;
  for (const Words& more : {Words{"--default-batch-size", "64"}, Words{"--train-trace", "missing.csv"},
                            Words{"--target-metric", "0"}, Words{"--max-epochs", "3"}}) {
    Words words{"simulate", "job", "--workload", "cifar100", "--gpu", "v100"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun refused = run(words);
    EXPECT_EQ(refused.code, exit_bad_usage) << more[0];
    EXPECT_NE(refused.err.find("a job comes from traces or from a model, not both"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(job({"--target-metric", "0.5", "--default-batch-size", "32", "--gpu", "v100"}).code, exit_bad_usage);
  for (const Words& change : {Words{"--move", "5:a40"}, Words{"--drift", "at=5,tilt=0.1"}}) {
    const ProgramRun late =
        run({"simulate", "job", "--workload", "cifar100", "--gpu", "v100", "--recurrences", "5", change[0], change[1]});
    EXPECT_EQ(late.code, exit_bad_usage);
    EXPECT_NE(late.err.find(change[0] + " is at recurrence 5, and there are 5"), std::string::npos) << late.err;
  }
}

TEST_F(SimulateCommandTest, TheOrderOfRowsDecidesNothing) {
  for (const char* policy : {"zeus", "grid", "lookahead"}) {
    const auto outcome = [&] {
      return job({"--target-metric", "0.5", "--default-batch-size", "32", "--policy", policy, "--recurrences", "40",
                  "--seeds", "3", "--json"});
    };
    std::ranges::sort(train_);
    std::ranges::sort(power_);
    write_traces();
    const ProgramRun sorted = outcome();
    ASSERT_EQ(sorted.code, exit_ok) << sorted.err;
    for (std::uint64_t order = 1; order <= 5; ++order) {
      Random random{order, 0, 0};
      for (std::vector<std::string>* const rows : {&train_, &power_}) {
        for (std::size_t left = rows->size(); left > 1; --left) {
          std::swap((*rows)[left - 1], (*rows)[random.below(left)]);
        }
      }
      write_traces();
      EXPECT_EQ(outcome().out, sorted.out) << policy << ", order " << order;
    }
  }
}

// Each GPU takes the time and the power of one GPU: four of them decide as one does, for four times the energy.
TEST_F(SimulateCommandTest, SeveralGpusTakeTheirPowerEachAndDecideAsOne) {
  const auto on = [&](const char* gpus) {
    const ProgramRun outcome =
        job({"--target-metric", "0.5", "--default-batch-size", "32", "--gpus", gpus, "--recurrences", "40", "--json"});
    EXPECT_EQ(outcome.code, exit_ok) << outcome.err;
    return JsonValue::parse(outcome.out).value();
  };
  const JsonValue one = on("1");
  const JsonValue four = on("4");
  EXPECT_DOUBLE_EQ(*four["default"]["energy_j"].number(), 4.0 * *one["default"]["energy_j"].number());
  EXPECT_EQ(four["default"]["time_s"], one["default"]["time_s"]);
  EXPECT_EQ(four["optimum"], one["optimum"]);
  ASSERT_EQ(four["history"].size(), one["history"].size());
  for (std::size_t attempt = 0; attempt < one["history"].size(); ++attempt) {
    EXPECT_EQ(four["history"][attempt]["batch_size"], one["history"][attempt]["batch_size"]);
    EXPECT_EQ(four["history"][attempt]["power_limit_w"], one["history"][attempt]["power_limit_w"]);
  }
}

}  // namespace
}  // namespace zeus::cli
