#include "cli/simulate_paper_command.hpp"

#include "cli/simulate_command.hpp"
#include "records/json_value.hpp"
#include "report/markup.hpp"
#include "tests/support/program_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace zeus::cli {
namespace {

using test::ProgramRun;

class SimulatePaperCommandTest : public ::testing::Test {
 protected:
  static ProgramRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"simulate", "paper"});
    Commands parts;
    parts.push_back(std::make_unique<SimulatePaperCommand>());
    Commands commands;
    commands.push_back(std::make_unique<SimulateCommand>(std::move(parts)));
    return test::run_program(commands, arguments);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream{path(name)} << content;
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file{path(name)};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(SimulatePaperCommandTest, WritesOneSelfContainedPageFromTheBuiltInModels) {
  const ProgramRun outcome = run({"--report", path("paper.html"), "--seeds", "1"});
  EXPECT_EQ(outcome.code, exit_ok) << outcome.err;
  EXPECT_NE(outcome.err.find("zeus: what could be saved"), std::string::npos);
  const std::string page = read("paper.html");
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  for (const char* there : {"DeepSpeech2", "23.8 % to 74.7 %", "the built-in workload and GPU models", "</html>"}) {
    EXPECT_NE(page.find(there), std::string::npos) << there;
  }
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  for (const char* wrong : {">nan", ">inf", "nan %", "inf %"}) {
    EXPECT_EQ(page.find(wrong), std::string::npos) << wrong;
  }
}

TEST_F(SimulatePaperCommandTest, WritesTheFiguresOfThePageAsJsonAndIsSilentWhenQuiet) {
  const ProgramRun outcome =
      run({"--html", path("paper.html"), "--json", path("paper.json"), "--seeds", "1", "--quiet"});
  ASSERT_EQ(outcome.code, exit_ok) << outcome.err;
  EXPECT_EQ(outcome.err + outcome.out, "");
  const auto json = records::JsonValue::parse(read("paper.json"));
  ASSERT_TRUE(json);
  const std::string page = read("paper.html");
  const records::JsonValue& sections = (*json)["sections"];
  std::size_t headings = 0;
  for (std::size_t at = page.find("<h2"); at != std::string::npos; at = page.find("<h2", at + 1)) {
    ++headings;
  }
  EXPECT_EQ(sections.size() + 1, headings);  // and the scorecard's
  EXPECT_GT((*json)["scorecard"].size(), 20U);
  std::size_t cells = 0;
  for (std::size_t section = 0; section < sections.size(); ++section) {
    const records::JsonValue& figures = sections[section]["figures"];
    for (std::size_t figure = 0; figure < figures.size(); ++figure) {
      if (*figures[figure]["kind"].string() == "table") {
        const records::JsonValue& rows = figures[figure]["rows"];
        for (std::size_t row = 0; row < rows.size(); ++row) {
          const std::string cell = R"(<th scope="row">)" + report::escaped(*rows[row][0].string()) + "</th>";
          EXPECT_NE(page.find(cell), std::string::npos) << cell;
          ++cells;
        }
      }
    }
  }
  EXPECT_GT(cells, 20U);
}

TEST_F(SimulatePaperCommandTest, AsksWhereToWriteTo) {
  const ProgramRun outcome = run({"--seeds", "1"});
  EXPECT_EQ(outcome.code, exit_bad_usage);
  EXPECT_EQ(outcome.err,
            "zeus: nothing is named to write to; give --html FILE, --json FILE or both; `zeus simulate paper --help` "
            "has more\n");
}

TEST_F(SimulatePaperCommandTest, RefusesATraceWithoutTheOther) {
  EXPECT_EQ(run({"--report", path("p"), "--train-trace", "x"}).code, exit_bad_usage);
  EXPECT_EQ(run({"--report", path("p"), "--power-trace", "x"}).code, exit_bad_usage);
  EXPECT_EQ(run({"--report", path("p"), "--seeds", "0"}).code, exit_bad_usage);
}

TEST_F(SimulatePaperCommandTest, NamesTheFileAndTheLineOfABadTrace) {
  const std::string train =
      write("train.csv", "dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch\n");
  const std::string power =
      write("power.csv",
            "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\na,b,8,c,250,nan,100\n");
  const ProgramRun outcome = run({"--report", path("p"), "--train-trace", train, "--power-trace", power});
  EXPECT_EQ(outcome.code, exit_failure);
  EXPECT_NE(outcome.err.find(power + ":2"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("p")));
}

TEST_F(SimulatePaperCommandTest, FailsIfTheReportCannotBeWritten) {
  const ProgramRun outcome = run({"--report", write("file", "") + "/paper.html", "--seeds", "1", "--quiet"});
  EXPECT_EQ(outcome.code, exit_failure);
  EXPECT_NE(outcome.err.find("zeus: "), std::string::npos);
}

}  // namespace
}  // namespace zeus::cli
