#include "sweep/ledger.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace zeus::sweep {
namespace {

using testing::HasSubstr;

class LedgerTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "ledger.jsonl"; }

  void write_one_run() const {
    Ledger ledger{file()};
    ledger.append(EntryTaken{.entry = 1,
                             .broadcast = false,
                             .queue = "1:2:3",
                             .content = {.commands = {"a", "b"}, .parameters = {}, .settings = {}}});
    ledger.append(EntryMoved{.entry = 1});
    ledger.append(started(1, 0));
    RunEnded ended{.run = 1, .outcome = Outcome::done, .why = "", .figures = {}};
    ended.figures.metrics = {std::nullopt, 0.5};
    ended.figures.energy = Energy{.value = Joules{3}, .uncertainty = Joules{0.5}};
    ledger.append(ended);
    ledger.append(started(2, 1));
  }

  static RunStarted started(std::uint64_t run, std::uint64_t task) {
    return {.run = run,
            .entry = 1,
            .task = task,
            .place = "h",
            .host = "h",
            .command = "quoted \" and \n new",
            .parameters = {{"bs", "8"}},
            .at = 1.5};
  }

  void append(const std::string& text) const { std::ofstream{file(), std::ios::app} << text; }

  [[nodiscard]] std::string content() const {
    std::ifstream stream{file()};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  [[nodiscard]] std::string refusal() const {
    try {
      const Ledger ledger{file()};
    } catch (const Error& error) {
      return error.what();
    }
    return "opened";
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(LedgerTest, KnowsAgainWhatWasAppended) {
  write_one_run();
  const LedgerContent known = read_ledger(file());
  ASSERT_EQ(known.runs.size(), 2U);
  EXPECT_EQ(known.runs[0].ended->figures.metrics.back(), 0.5);
  EXPECT_EQ(known.runs[0].ended->figures.metrics.front(), std::nullopt);
  EXPECT_EQ(known.runs[0].ended->figures.energy->value, Joules{3});
  EXPECT_EQ(known.runs[0].started.command, "quoted \" and \n new");
  EXPECT_FALSE(known.runs[1].ended);
  EXPECT_EQ(known.entries.front().next_task, 2U);
  EXPECT_TRUE(known.entries.front().moved);
}

TEST_F(LedgerTest, ALastLineThatWasCutShortIsLeftOutAndTheRestKept) {
  write_one_run();
  const std::string whole = content();
  append(R"({"kind":"ended","run":2,"outc)");
  EXPECT_EQ(read_ledger(file()).runs.size(), 2U);
  {
    Ledger ledger{file()};
    EXPECT_TRUE(ledger.cut());
    ledger.append(RunEnded{.run = 2, .outcome = Outcome::lost, .why = "cut", .figures = {}});
  }
  EXPECT_TRUE(content().starts_with(whole));
  EXPECT_EQ(read_ledger(file()).runs[1].ended->why, "cut");
}

TEST_F(LedgerTest, AnEventThatTheDiskHasNoRoomForLeavesNoTrace) {
  write_one_run();
  const std::string before = content();
  const RunEnded ended{.run = 2, .outcome = Outcome::lost, .why = std::string(1000, 'x'), .figures = {}};
  {
    Ledger ledger{file()};
    rlimit former{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &former), 0);
    const rlimit low{.rlim_cur = before.size() + 100, .rlim_max = former.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
    EXPECT_THROW(ledger.append(ended), Error);
    ::setrlimit(RLIMIT_FSIZE, &former);
    (void)std::signal(SIGXFSZ, handler);
    EXPECT_EQ(content(), before);
    EXPECT_FALSE(ledger.content().runs[1].ended);
    ledger.append(ended);
  }
  EXPECT_TRUE(read_ledger(file()).runs[1].ended);
}

TEST_F(LedgerTest, ABroadcastThatAnOlderVersionTookHasNoLabels) {
  append("{\"zeus_sweep\":1}\n");
  {
    Ledger ledger{file()};
    ledger.append(EntryTaken{
        .entry = 1, .broadcast = true, .queue = "", .content = {.commands = {"a"}, .parameters = {}, .settings = {}}});
  }
  std::string text = content();
  const std::string labels = ",\"labels\":[]";
  ASSERT_NE(text.find(labels), std::string::npos);
  text.erase(text.find(labels), labels.size());
  std::ofstream{file()} << text;
  EXPECT_TRUE(read_ledger(file()).entries.front().taken.labels.empty());
}

TEST_F(LedgerTest, ALineThatIsNoEventIsNamedAndNothingIsChanged) {
  write_one_run();
  append("{\"kind\":\"ended\"}\n");
  const std::string before = content();
  EXPECT_THAT(refusal(), HasSubstr("ledger.jsonl:7: this is not an event of a sweep: it has no 'run'"));
  EXPECT_EQ(content(), before);
}

TEST_F(LedgerTest, AnEventThatDoesNotFitIsRefused) {
  write_one_run();
  append(R"({"kind":"moved","entry":9})"
         "\n");
  EXPECT_THAT(refusal(), HasSubstr("ledger.jsonl:7: an entry that does not fit the lines before it"));
}

TEST_F(LedgerTest, ANewerLedgerAndAnotherFileAreLeftAlone) {
  append("{\"zeus_sweep\":2}\n");
  EXPECT_THAT(refusal(), HasSubstr("is of a newer version of Zeus"));
  std::filesystem::remove(file());
  append("hello\n");
  EXPECT_THAT(refusal(), HasSubstr("this is not the ledger of a sweep"));
}

TEST_F(LedgerTest, AnotherProcessThatHasItOpenIsNamed) {
  const Ledger ledger{file()};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string why = refusal();
    const bool named = why.find("process " + std::to_string(::getppid())) != std::string::npos &&
                       why.find("has the ledger") != std::string::npos;
    ::_exit(named ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace zeus::sweep
