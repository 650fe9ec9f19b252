#include "sweep/results.hpp"
#include "sweep/traces.hpp"

#include "records/json_value.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::sweep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two batch sizes under two limits, each run once; the last one failed.
LedgerContent small_ledger() {
  LedgerContent ledger;
  EntryTaken taken{.entry = 1, .broadcast = false, .queue = "", .content = {}};
  taken.content.commands = {"train --name \"x, y\""};
  taken.content.parameters = {{"batch_size", {"16", "32"}}, {"optimizer", {"adam"}}};
  taken.content.settings.gpus = 2;
  taken.content.settings.power_limits = {Watts{100}, Watts{200}};
  taken.content.settings.target_metric = 0.8;
  ledger.add(taken);
  for (std::uint64_t task = 0; task < 4; ++task) {
    ledger.add(RunStarted{.run = task + 1,
                          .entry = 1,
                          .task = task,
                          .place = "h",
                          .host = "h",
                          .command = taken.content.commands.front(),
                          .parameters = task_at(taken.content, task).parameters,
                          .at = 0.0});
    RunEnded ended{.run = task + 1, .outcome = Outcome::done, .why = "", .figures = {}};
    RunFigures& figures = ended.figures;
    figures.exit_code = task == 3 ? 1 : 0;
    if (task == 3) {
      ended.outcome = Outcome::failed;
      ended.why = "its command exited with 1";
    }
    figures.time = Seconds{12};
    figures.gpus = {{"GPU-1", "V100", Watts{100}}, {"GPU-2", "V100", Watts{100}}};
    figures.energy = Energy{.value = Joules{2400}, .uncertainty = Joules{7}};
    figures.epochs = 3;
    figures.epoch_time = Seconds{4};
    figures.epoch_energy = Joules{800};
    figures.metrics = {0.5, task == 1 ? std::nullopt : std::optional{0.8}, 0.85};
    ledger.add(ended);
  }
  return ledger;
}

TEST(Results, ACsvHasAColumnForEachParameterAndQuotesWhatNeedsIt) {
  const std::string csv = results_csv(small_ledger());
  EXPECT_THAT(csv, HasSubstr("run,state,exit_code,host,place,batch_size,optimizer,power_limit,gpu,"));
  EXPECT_THAT(
      csv,
      HasSubstr("\n1,done,0,h,h,16,adam,100,2 x V100,100,12,2400,7,,3,4,800,0.85,,,\"train --name \"\"x, y\"\"\"\n"));
  EXPECT_THAT(csv, HasSubstr("\n4,failed,1,"));
}

TEST(Results, ACsvHasNoTwoColumnsOfOneName) {
  LedgerContent ledger = small_ledger();
  ledger.runs.front().started.parameters = {{"epochs", "7"}, {"gpu", "gpu0"}, {"run", "first"}};
  const std::string csv = results_csv(ledger);
  EXPECT_THAT(csv, HasSubstr("place,parameter_epochs,parameter_gpu,parameter_run,batch_size,"));
  EXPECT_THAT(csv, HasSubstr("\n1,done,0,h,h,7,gpu0,first,"));
}

RunEnded end_on(const std::string& gpu, std::uint64_t run, double begin, double end) {
  RunEnded ended{.run = run, .outcome = Outcome::done, .why = "", .figures = {}};
  ended.figures.gpus = {{gpu, "V100", Watts{100}}};
  ended.figures.start_monotonic = Seconds{begin};
  ended.figures.time = Seconds{end - begin};
  return ended;
}

// Eight runs of one host. The first four are under way at once; the others follow one another.
LedgerContent ledger_of_one_host() {
  LedgerContent ledger;
  EntryTaken taken{.entry = 1, .broadcast = false, .queue = "", .content = {}};
  taken.content.commands = {"train"};
  taken.content.settings.repetitions = 8;
  ledger.add(taken);
  const auto start = [&](std::uint64_t run) {
    ledger.add(RunStarted{.run = run, .entry = 1, .task = run - 1, .place = "h", .host = "h", .command = "train"});
  };
  for (std::uint64_t run = 1; run <= 4; ++run) {
    start(run);
  }
  ledger.add(end_on("GPU-1", 1, 100, 120));
  ledger.add(end_on("GPU-2", 2, 100, 120));
  ledger.add(end_on("GPU-1", 3, 110, 130));
  ledger.add(end_on("GPU-1", 4, 125, 140));
  start(5);
  ledger.add(end_on("GPU-1", 5, 140, 150));
  start(6);
  // The host was restarted, and its clock with it.
  ledger.add(end_on("GPU-1", 6, 100, 120));
  return ledger;
}

TEST(RunsBeside, AreThoseThatHadAGpuOfARunAtTheSameTime) {
  EXPECT_THAT(runs_beside(ledger_of_one_host()), ElementsAre(ElementsAre(3), ElementsAre(), ElementsAre(1, 4),
                                                             ElementsAre(3), ElementsAre(), ElementsAre()));
}

TEST(RunsBeside, AreCountedForPeople) {
  EXPECT_THAT(beside_text(ledger_of_one_host()), HasSubstr("3 runs shared a GPU with others"));
  EXPECT_EQ(beside_text(small_ledger()), "");
}

TEST(Traces, RunsThatSharedAGpuAreLeftOut) {
  LedgerContent ledger = small_ledger();
  for (std::size_t run = 0; run < 2; ++run) {
    ledger.runs[run].ended->figures.start_monotonic = Seconds{5.0 + static_cast<double>(run)};
    ledger.runs[run].begun_by_then = 2;
  }
  EXPECT_THAT(traces_of(ledger, {}).left_out,
              ElementsAre("run 1 shared a GPU with run 2: give `gpus` in the queue",
                          "run 2 shared a GPU with run 1: give `gpus` in the queue", "run 4 is not done"));
}

TEST(Traces, RunsWithALockedClockAreLeftOut) {
  LedgerContent ledger = small_ledger();
  ledger.entries.front().taken.content.settings.clocks = {Megahertz{1200}};
  EXPECT_THAT(traces_of(ledger, {}).left_out,
              Contains(HasSubstr("run 1 has a locked clock, for which a trace has no column")));
}

TEST(Results, JsonHasAReasonForWhatIsUnknown) {
  LedgerContent ledger = small_ledger();
  ledger.runs[0].ended.reset();
  const auto json = records::JsonValue::parse(results_json(ledger));
  ASSERT_TRUE(json);
  const auto& run = (*json)["runs"][0];
  EXPECT_TRUE(run["time_s"].is_null());
  EXPECT_EQ(*run["reason"]["time_s"].string(), "it is running");
  EXPECT_EQ(*run["state"].string(), "running");
  EXPECT_EQ(*(*json)["runs"][1]["parameters"]["batch_size"].string(), "16");
  EXPECT_EQ((*json)["runs"][1]["energy_j"]["uncertainty"].number(), 7.0);
}

TEST(Results, ThePageCountsTheRunsThatAreDone) {
  const records::Findings findings = results_findings(small_ledger());
  EXPECT_THAT(findings.paragraphs.front(), HasSubstr("3 of 4 runs are done"));
  const auto& chart = std::get<records::XyChart>(findings.sections.front().figures.front());
  EXPECT_EQ(chart.series.front().points.size(), 3U);
  EXPECT_EQ(chart.series.front().points.front().low, 2393.0);
}

TEST(Traces, AreWhatTheSimulatorReads) {
  const SweepTraces traces = traces_of(small_ledger(), {});
  const trace::TrainTrace train = trace::parse_train_trace("t", traces.train);
  ASSERT_EQ(train.runs.size(), 3U);
  EXPECT_EQ(train.runs[0].batch_size, 16);
  EXPECT_EQ(train.runs[0].optimizer, "adam");
  EXPECT_EQ(train.runs[0].dataset, "sweep");
  EXPECT_EQ(train.runs[0].target_epoch, 2);
  EXPECT_EQ(train.runs[1].target_epoch, 3);  // its second epoch has no metric
  const trace::PowerTrace power = trace::parse_power_trace("p", traces.power.at("V100"));
  ASSERT_EQ(power.rows.size(), 3U);
  EXPECT_EQ(power.max_power, Watts{200});
  EXPECT_EQ(power.rows[0].profile.epoch_time, Seconds{4});
  EXPECT_EQ(power.rows[0].profile.average_power, Watts{100});  // of one of the two GPUs
  EXPECT_THAT(traces.left_out, ElementsAre("run 4 is not done"));
}

TEST(Traces, ATargetThatIsNeverReachedIsAnEmptyField) {
  const SweepTraces traces = traces_of(small_ledger(), {.target_metric = 0.9});
  EXPECT_EQ(trace::parse_train_trace("t", traces.train).runs[0].target_epoch, std::nullopt);
}

TEST(Traces, WithoutARunThatCanBeInThemEachReasonIsGiven) {
  const auto left_out = [](const LedgerContent& ledger, const TraceColumns& columns) {
    const SweepTraces traces = traces_of(ledger, columns);
    EXPECT_EQ(traces.runs, 0U);
    return traces.left_out;
  };
  EXPECT_THAT(left_out(small_ledger(), {.batch_size = "bs"}),
              ElementsAre("run 1 has no batch size in a parameter 'bs'", "run 2 has no batch size in a parameter 'bs'",
                          "run 3 has no batch size in a parameter 'bs'", "run 4 is not done"));
  EXPECT_THAT(left_out({}, {}), IsEmpty());
  LedgerContent silent = small_ledger();
  for (KnownRun& run : silent.runs) {
    run.ended->figures.metrics.assign(3, std::nullopt);
  }
  EXPECT_THAT(left_out(silent, {}), Contains(HasSubstr("run 1 printed no metric")));
}

}  // namespace
}  // namespace zeus::sweep
