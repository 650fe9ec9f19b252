#include "cli/jobs_command.hpp"

#include "base/random.hpp"
#include "cli/program.hpp"
#include "jobs/job.hpp"
#include "records/json_value.hpp"
#include "store/open_store.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/program_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace zeus::cli {
namespace {

using records::JsonValue;
using test::ProgramRun;

constexpr const char* job_name = "bert nightly";

class JobsCommandTest : public testing::Test {
 protected:
  ProgramRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "jobs");
    std::ostringstream out;
    std::ostringstream err;
    Context context{out, err, clock_, environment_, {}, FileTree{folder_.path() / "machine"}};
    Commands commands;
    commands.push_back(std::make_unique<JobsCommand>());
    const int code = run_program("1.0", commands, arguments, context);
    return {code, without_folder(out.str()), without_folder(err.str())};
  }

  // Outputs must not depend on where the test ran.
  std::string without_folder(std::string text) {
    const std::string folder = folder_.path().string();
    for (std::size_t place = text.find(folder); place != std::string::npos; place = text.find(folder)) {
      text.replace(place, folder.size(), "FOLDER");
    }
    return text;
  }

  [[nodiscard]] std::string store() const { return (folder_.path() / "data" / "zeus" / "jobs.sqlite").string(); }

  // A few nights of a job on one GPU, with a failed try, one that was left out, and one that still runs.
  void live_through_some_nights() {
    const auto store_of_jobs = store::open_store(store(), store::Access::create, clock_);
    const jobs::Site site{
        .clock = clock_,
        .machine = FileTree{folder_.path() / "machine"},
        .owner = {.host = "node7", .place = "boot", .process = {.pid = 4711, .started = 1, .command = "zeus"}}};
    const records::JobDevice device{
        .model = "Tesla V100-SXM2-32GB", .gpus = 1, .max_power = 250_W, .power_limits = {100_W, 150_W, 200_W, 250_W}};
    jobs::Job job = jobs::Job::open(*store_of_jobs, site, job_name,
                                    {.batch_sizes = {16, 32, 64, 128},
                                     .default_batch_size = 64,
                                     .target = records::JobTarget{.metric = 84.0},
                                     .max_epochs = 60,
                                     .policy = "lookahead",
                                     .seed = 1,
                                     .max_slowdown = {},
                                     .device = device});
    for (int night = 0; night < 9; ++night) {
      jobs::Recurrence recurrence = job.begin(device);
      while (!recurrence.over()) {
        step(recurrence, night);
      }
      clock_.advance(Seconds{86'400});
    }
    jobs::Job::open(*store_of_jobs, site, "another",
                    {.target = {}, .policy = "zeus", .max_slowdown = {}, .device = device});
    jobs::Recurrence running = job.begin(device);
    while (std::holds_alternative<records::ProfileAsked>(running.next())) {
    }
    running.epochs({.epochs = 2, .metric = 71.5, .gpus = {}, .time = 100_s});
    still_running_ = std::make_unique<jobs::Recurrence>(std::move(running));
    // The test looks at what a killed process would have left.
    text_ = run({job_name}).out;
    json_ = run({job_name, "--json"}).out;
    list_ = run({});
    list_json_ = run({"--json"}).out;
    still_running_.reset();
  }

  static records::LimitProfile epoch(int batch_size, Watts limit) {
    const double slowdown = 1.0 + 0.4 * (250.0 - limit.value()) / 150.0;
    return {
        .limit = limit, .epoch_time = Seconds{(20.0 + 3000.0 / batch_size) * slowdown}, .average_power = limit * 0.9};
  }

  static records::GpuEnergy taken(Joules energy) {
    return {.gpu = "GPU-0", .energy = {.value = energy, .uncertainty = energy * 0.001, .systematic = {}}};
  }

  void step(jobs::Recurrence& recurrence, int night) {
    const jobs::Step next = recurrence.next();
    if (const auto* profile = std::get_if<records::ProfileAsked>(&next)) {
      std::vector<records::LimitProfile> limits;
      for (const Watts limit : profile->limits) {
        limits.push_back(epoch(profile->batch_size, limit));
      }
      recurrence.profiled(
          {.batch_size = profile->batch_size, .limits = limits, .charged = {taken(450_J)}, .time = 5_s});
      return;
    }
    const records::TryPlan& run = std::get<records::TryStarted>(next).event.plan;
    if (!run.limit) {
      std::vector<records::LimitProfile> limits;
      for (const Watts limit : {100_W, 150_W, 200_W, 250_W}) {
        limits.push_back(epoch(run.batch_size, limit));
      }
      recurrence.profiled({.batch_size = run.batch_size, .limits = limits, .charged = {}, .time = {}});
    }
    const bool fails = night == 4;
    const bool first = recurrence.number() != failed_;
    const records::LimitProfile one = epoch(run.batch_size, run.limit.value_or(250_W));
    const int epochs = fails && first ? 7 : 10 + run.batch_size / 8 + night % 2;
    failed_ = recurrence.number();
    recurrence.finished(
        {.outcome = fails && first ? records::TryOutcome::stopped : records::TryOutcome::reached,
         .progress = {.epochs = epochs,
                      .metric = 84.2,
                      .gpus = {taken(one.average_power * one.epoch_time * epochs)},
                      .time = one.epoch_time * epochs},
         .limit = one.limit,
         .exit_code = fails && first ? 143 : 0,
         .left_out = night == 6 ? std::optional{std::string{"another process held the GPU's limit"}} : std::nullopt,
         .whole_epochs = records::WholeEpochs{.limit = one.limit,
                                              .count = epochs - 1,
                                              .time = one.epoch_time * (epochs - 1),
                                              .energy = one.average_power * one.epoch_time * (epochs - 1),
                                              .time_deviation = {},
                                              .energy_deviation = {},
                                              .start_time = Seconds{},
                                              .start_energy = Joules{}}});
  }

  test::TemporaryFolder folder_;
  VirtualClock clock_{Instant{1}, WallTime{1'795'284'000'000'000}};
  Environment environment_{{{"XDG_DATA_HOME", (folder_.path() / "data").string()}}};
  std::uint64_t failed_ = 1000;
  std::unique_ptr<jobs::Recurrence> still_running_;
  std::string text_;
  std::string json_;
  ProgramRun list_;
  std::string list_json_;
};

TEST_F(JobsCommandTest, ShowsAJobToPeopleAndToPrograms) {
  live_through_some_nights();
  test::expect_golden("cli/jobs_one.txt", text_);
  test::expect_golden("cli/jobs_one.json", json_);
  test::expect_golden("cli/jobs_list.txt", list_.out);
  test::expect_golden("cli/jobs_list.json", list_json_);
  EXPECT_EQ(list_.code, 0);
}

TEST_F(JobsCommandTest, ShowsWhatWasSpentAndSavedAsMoneyAndCarbon) {
  live_through_some_nights();
  const JsonValue job = JsonValue::parse(json_).value();
  const std::string text = run({job_name, "--price", "360EUR", "--carbon", "360kg"}).out;
  // At these rates a joule is 1e-4 EUR and a tenth of a gram.
  for (const auto& energy : {job["spent"]["energy_j"], job["savings"]["energy_j"]}) {
    EXPECT_THAT(text, testing::ContainsRegex(
                          fmt::format("  that is {:.0f}[0-9.]* ± [0-9.]+ EUR, ", std::floor(*energy.number() * 1e-4))));
  }
  EXPECT_EQ(run({job_name, "--json", "--price", "1EUR"}).code, exit_bad_usage);
  EXPECT_EQ(run({"--carbon", "1g"}).code, exit_bad_usage);
  EXPECT_EQ(run({job_name, "--price", "free"}).code, exit_bad_usage);
}

TEST_F(JobsCommandTest, ShowsTheSameNumbersBothWays) {
  live_through_some_nights();
  const JsonValue job = JsonValue::parse(json_).value();
  const double saved = *job["savings"]["energy_j"].number() / *job["savings"]["energy_of_default_j"].number();
  EXPECT_NE(text_.find(fmt::format("{:.1f} %", 100.0 * saved)), std::string::npos);
  EXPECT_EQ(job["recurrences"].size(), 10U);
  double energy = 0.0;
  for (const JsonValue& attempt : *job["tries"].list()) {
    EXPECT_EQ(attempt["energy_j"].is_null(), attempt["outcome"].is_null());
    EXPECT_TRUE(!attempt["outcome"].is_null() || attempt["reason"].find("outcome"));
    energy += attempt["energy_j"].is_null() ? 0.0 : *attempt["energy_j"]["value"].number();
  }
  double whole = 0.0;
  for (const JsonValue& recurrence : *job["recurrences"].list()) {
    whole += *recurrence["energy_j"].number();
  }
  EXPECT_GT(whole, energy) << "a recurrence also pays for profiling";
}

TEST_F(JobsCommandTest, MovesAJobToAnotherStoreAndForgetsIt) {
  live_through_some_nights();
  const std::string file = (folder_.path() / "job.jsonl").string();
  const std::string other = (folder_.path() / "other.sqlite").string();
  EXPECT_EQ(run({job_name, "export", "--file", file}).code, 0);
  EXPECT_EQ(run({"copy", "import", "--file", file, "--store", other}).code, 0);
  const JsonValue here = JsonValue::parse(run({job_name, "--json"}).out).value();
  const JsonValue there = JsonValue::parse(run({"copy", "--json", "--store", other}).out).value();
  EXPECT_EQ(here["tries"], there["tries"]);
  EXPECT_EQ(here["savings"], there["savings"]);
  EXPECT_EQ(here["next"], there["next"]);
  EXPECT_EQ(run({job_name, "forget", "--yes"}).out, fmt::format("{}: forgotten\n", job_name));
  EXPECT_EQ(run({job_name}).code, 1);
}

TEST_F(JobsCommandTest, SaysWhatAnImportAndARedefinitionDidAsJsonToo) {
  live_through_some_nights();
  const std::string file = (folder_.path() / "job.jsonl").string();
  EXPECT_EQ(run({job_name, "export", "--file", file}).code, 0);
  const JsonValue entries = *JsonValue::parse(run({job_name, "--json"}).out).value().find("entries");
  const JsonValue taken = JsonValue::parse(run({"copy", "import", "--file", file, "--json"}).out).value();
  EXPECT_EQ(*taken["name"].string(), "copy");
  EXPECT_GE(taken["entries"].number(), entries.number());
  const JsonValue changed = JsonValue::parse(run({"copy", "redefine", "--set", "eta = 0.7", "--json"}).out).value();
  ASSERT_EQ(changed["changes"].size(), 1U);
  const JsonValue& change = changed["changes"][0];
  EXPECT_EQ(*change["key"].string(), "eta");
  EXPECT_EQ(*change["was"].string(), "0.5");
  EXPECT_EQ(*change["now"].string(), "0.7");
  EXPECT_FALSE(change["follows"].string()->empty());
  EXPECT_EQ(run({"copy", "redefine", "--set", "eta = 0.7", "--json"}).out, "{\"name\":\"copy\",\"changes\":[]}\n");
}

TEST_F(JobsCommandTest, WritesTheReportOfOneJob) {
  live_through_some_nights();
  const std::string page = (folder_.path() / "page.html").string();
  EXPECT_EQ(run({job_name, "--html", page}).code, exit_ok);
  std::ifstream file{page};
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "<!doctype html>");
  EXPECT_EQ(run({"--html", page}).code, exit_bad_usage);
}

TEST_F(JobsCommandTest, ReportsAnErrorInOneLine) {
  std::string all;
  const auto ask = [&](const std::vector<std::string>& arguments) {
    const ProgramRun outcome = run(arguments);
    all += fmt::format("{} {}{}", outcome.code, outcome.out, outcome.err);
  };
  ask({});
  ask({"none"});
  live_through_some_nights();
  ask({"none"});
  ask({"none", "forget"});
  ask({"none", "export"});
  ask({job_name, "rename"});
  ask({job_name, "--file", "x"});
  ask({job_name, "export", "--json"});
  ask({job_name, "forget", "--json"});
  ask({job_name, "--yes"});
  ask({job_name, "import", "--file", (folder_.path() / "missing").string()});
  std::ofstream{folder_.path() / "text"} << "no job\n";
  ask({"copy", "import", "--file", (folder_.path() / "text").string()});
  EXPECT_EQ(run({job_name, "export", "--file", (folder_.path() / "job").string()}).code, 0);
  ask({job_name, "import", "--file", (folder_.path() / "job").string()});
  ask({"--store", (folder_.path() / "text").string()});
  ask({"--store", (folder_.path() / "missing").string()});
  test::expect_golden("cli/jobs_errors.txt", all);
}

}  // namespace
}  // namespace zeus::cli
