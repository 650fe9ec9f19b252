#include "cli/pipeline_command.hpp"

#include "optimize/pipeline/frontier.hpp"
#include "records/json_value.hpp"
#include "records/pipeline_plan.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/program_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace zeus::cli {
namespace {

using test::ProgramRun;

class PipelineCommandTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream{path} << content;
    return path.string();
  }

  // Four stages of unequal size, five frequencies.
  std::string profile() {
    std::string csv = "stage,instruction,frequency,time,energy\n";
    for (int stage = 0; stage < 4; ++stage) {
      for (const bool is_forward : {true, false}) {
        for (int k = 0; k < 5; ++k) {
          const double clock = 1.0 - 0.12 * k;
          const double time = (is_forward ? 0.04 : 0.08) * (1.0 + 0.08 * stage) * (0.25 + 0.75 / clock);
          csv += fmt::format("{},{},{},{:.6f},{:.4f}\n", stage, is_forward ? "forward" : "backward", 1410 - 150 * k,
                             time, time * (90 + 260 * clock * clock * clock));
        }
      }
    }
    return write("profile.csv", csv);
  }

  ProgramRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "pipeline");
    Commands commands;
    commands.push_back(std::make_unique<PipelineCommand>());
    return test::run_program(commands, arguments);
  }

  std::string read(const std::string& name) {
    std::ifstream file{folder_.path() / name};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  std::string path(const std::string& name) { return (folder_.path() / name).string(); }

  test::TemporaryFolder folder_;
};

TEST_F(PipelineCommandTest, PrintsATableOfPlans) {
  const ProgramRun outcome = run({"--profile", profile(), "--stages", "4", "--microbatches", "8", "--points", "4"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  test::expect_golden("cli/pipeline_table.txt", outcome.out);
}

TEST_F(PipelineCommandTest, PrintsTheJsonOfTheContract) {
  const ProgramRun outcome =
      run({"--profile", profile(), "--stages", "4", "--microbatches", "2", "--points", "2", "--json", "-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  test::expect_golden("cli/pipeline.json", outcome.out);
  const auto document = records::JsonValue::parse(outcome.out).value();
  ASSERT_EQ(document["plans"].size(), 2u);
  EXPECT_EQ(document["plans"][0]["frequencies"].size(), 4u);
  EXPECT_EQ(document["plans"][0]["frequencies"][0].size(), 4u);
  EXPECT_EQ(document["frontier"][0]["time_s"], document["plans"][0]["time_s"]);
}

TEST_F(PipelineCommandTest, APlanForOneTimeIsAPlanFile) {
  const ProgramRun outcome =
      run({"--profile", profile(), "--stages", "4", "--microbatches", "8", "--at", "2s", "--json", path("plan.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const records::PipelinePlan plan = records::pipeline_plan_from_json(read("plan.json"));
  EXPECT_EQ(plan.time, 2_s);
  ASSERT_EQ(plan.frequencies.size(), 4u);
  EXPECT_EQ(plan.frequencies[3].size(), 16u);
  EXPECT_EQ(plan.frequencies[3][0].name, "forward");
  EXPECT_EQ(plan.frequencies[3][1].name, "backward");
}

TEST_F(PipelineCommandTest, ReadsAnyGraph) {
  const std::string dag = write("graph.dag",
                                "profile work 1400 1 10\nprofile work 700 3 4\n"
                                "computation a 0 work forward\ncomputation b 1 work forward\ndependency a b 0.5\n");
  const ProgramRun outcome = run({"--dag", dag, "--p2p-power", "0", "--at", "2.5", "--json", "-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = records::JsonValue::parse(outcome.out).value();
  EXPECT_EQ(document["frontier"].list()->front()["time_s"].number(), 2.5);
  EXPECT_EQ(document["frontier"].list()->front()["energy_j"].number(), 20.0);
  EXPECT_EQ(document["frontier"].list()->back()["time_s"].number(), 6.5);
  EXPECT_EQ(document["plans"][0]["frequencies"],
            records::JsonValue::parse(R"([[["forward",1400]],[["forward",1400]]])"));
}

TEST_F(PipelineCommandTest, WritesAReport) {
  const ProgramRun outcome = run(
      {"--profile", profile(), "--stages", "4", "--microbatches", "4", "--points", "3", "--html", path("report.html")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(read("report.html").starts_with("<!doctype html>"));
}

// One rank that computes for as long as the iteration takes.
std::string measured(double seconds, double joules, const std::string& claims) {
  return fmt::format(R"({{"version":1,"ranks":1,"iterations":20,"time_s":{0},"time_uncertainty_s":0.01,"energy_j":{1},)"
                     R"("energy_uncertainty_j":1.5,{2},"computations":[{{"rank":0,"stage":0,"microbatch":0,)"
                     R"("instruction":"forward","start_s":0,"duration_s":{0},"frequency_mhz":0,"power_w":200}}]}})",
                     seconds, joules, claims);
}

TEST_F(PipelineCommandTest, ShowsWhatWasMeasuredBeforeAndAfter) {
  const std::string before = write("before.json", measured(2, 500, R"("claimed_time_s":2,"claimed_energy_j":500)"));
  const std::string after = write("after.json", measured(2.02, 440, R"("claimed_time_s":2,"claimed_energy_j":435)"));
  ProgramRun outcome = run({"--measured", before, "--measured", after, "--html", path("picture.html")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  test::expect_golden("cli/pipeline_measured.txt", outcome.out);
  EXPECT_TRUE(read("picture.html").starts_with("<!doctype html>"));
  outcome = run({"--measured", before, "--measured", after, "--json", "-"});
  const auto document = records::JsonValue::parse(outcome.out).value();
  EXPECT_NEAR(*document["saved_share"].number(), 0.12, 1e-12);
  EXPECT_NEAR(*document["slower_share"].number(), 0.01, 1e-12);
  EXPECT_NEAR(*document["claimed_saved_share"].number(), 0.13, 1e-12);
  EXPECT_NEAR(*document["claimed_slower_share"].number(), 0.0, 1e-12);
  EXPECT_EQ(document["after"]["energy_j"].number(), 440);
}

TEST_F(PipelineCommandTest, WhatWasMeasuredWithoutAPlanHasNoClaims) {
  const std::string before = write("before.json", measured(2, 500, R"("claimed_time_s":null,"claimed_energy_j":null)"));
  const ProgramRun outcome = run({"--measured", before, "--measured", before});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0.0 % less energy, 0.0 % more time\n"), std::string::npos) << outcome.out;
  const ProgramRun broken = run({"--measured", before, "--measured", write("broken.json", "{}")});
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.err.find("broken.json: this is not a measured iteration"), std::string::npos) << broken.err;
}

TEST_F(PipelineCommandTest, TimesAreRoundedToAUnitOnRequest) {
  const ProgramRun outcome = run({"--profile", profile(), "--stages", "4", "--microbatches", "2", "--unit-time", "10ms",
                                  "--points", "1", "--json", "-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = records::JsonValue::parse(outcome.out).value();
  const double fastest = *document["frontier"][0]["time_s"].number();
  EXPECT_NEAR(fastest * 100, std::round(fastest * 100), 1e-9);
}

TEST_F(PipelineCommandTest, AllSchedulesRun) {
  std::string csv = "stage,instruction,frequency,time,energy\n";
  for (int stage = 0; stage < 4; ++stage) {
    for (const char* name :
         {"forward", "backward", "recomputation", "forward_backward", "backward_input", "backward_weight"}) {
      csv += fmt::format("{0},{1},1410,0.04,12\n{0},{1},900,0.06,9\n", stage, name);
    }
  }
  const std::string file = write("all.csv", csv);
  for (const char* schedule : {"1f1b", "gpipe", "early-recomputation", "zero-bubble"}) {
    EXPECT_EQ(run({"--profile", file, "--stages", "4", "--microbatches", "8", "--schedule", schedule}).code, 0);
  }
  EXPECT_EQ(
      run({"--profile", file, "--stages", "2", "--chunks", "2", "--microbatches", "8", "--schedule", "interleaved"})
          .code,
      0);
}

TEST_F(PipelineCommandTest, BadUsageIsOneLineAndExitCodeTwo) {
  const std::string file = profile();
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"--profile", file},
           {"--profile", file, "--stages", "4"},
           {"--profile", file, "--dag", file},
           {"--dag", file, "--stages", "4"},
           {"--profile", file, "--stages", "4", "--microbatches", "8", "--schedule", "2f2b"},
           {"--profile", file, "--stages", "4", "--microbatches", "8", "--at", "soon"},
           {"--profile", file, "--stages", "4", "--microbatches", "8", "--at", "0.001"},
           {"--profile", file, "--stages", "4", "--microbatches", "8", "--at", "3", "--points", "3"},
           {"--profile", file, "--stages", "5", "--microbatches", "8"},
           {"--profile", file, "--stages", "3", "--microbatches", "8"},
           {"--profile", file, "--stages", "-1", "--microbatches", "8"},
           {"--profile", file, "--stages", "4", "--microbatches", "8", "--unit-time", "0"},
           {"--profile", file, "--stages", "4", "--microbatches", "8", "--points", "1000000000"},
           {"--measured", file},
           {"--measured", file, "--measured", file, "--measured", file},
           {"--measured", file, "--measured", file, "--stages", "4"},
       }) {
    const ProgramRun outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(PipelineCommandTest, WrongFilesAreOneLineThatNamesThem) {
  const std::string missing = path("missing.csv");
  ProgramRun outcome = run({"--profile", missing, "--stages", "4", "--microbatches", "8"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find(missing), std::string::npos);
  const std::string broken = write("broken.csv", "stage,instruction,frequency,time,energy\n0,forward,x,1,1\n");
  outcome = run({"--profile", broken, "--stages", "4", "--microbatches", "8"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find(broken + ":2:"), std::string::npos) << outcome.err;
  const std::string circle = write("circle.dag",
                                   "profile p 1 1 1\ncomputation a 0 p\ncomputation b 1 p\ndependency a b\n"
                                   "dependency b a\n");
  outcome = run({"--dag", circle});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("circle"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace zeus::cli
