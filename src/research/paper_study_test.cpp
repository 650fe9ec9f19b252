#include "research/paper_study.hpp"

#include "tests/support/golden.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

namespace zeus::research {
namespace {

// A job of four batch sizes under three limits; the largest batch size misses the target now and then.
trace::TrainTrace train_trace() {
  std::string csv = "dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch\n";
  const auto rows = [&](const char* job, const char* optimizer, const char* target, int first, int most) {
    for (int size = 0; size < 4; ++size) {
      for (int run = 0; run < 4; ++run) {
        const int epochs = 2 + size * size / 2 + (run == 3 ? 1 : 0);
        csv += fmt::format("{},{},{},0.1,{},{},{}\n", job, first << size, optimizer, run, target,
                           size == 3 && run == 0 ? "" : fmt::format("{}", std::min(epochs, most)));
      }
    }
  };
  rows("librispeech,deepspeech2", "adamw", "40.0", 48, 16);
  rows("cifar100,shufflenetv2", "adadelta", "0.6", 256, 100);
  return trace::parse_train_trace("train.csv", csv);
}

trace::PowerTrace power_trace(const std::string& name) {
  std::string csv = "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n";
  for (const char* job : {"librispeech,deepspeech2", "cifar100,shufflenetv2"}) {
    const bool speech = job[0] == 'l';
    for (int size = 0; size < 4; ++size) {
      for (const int limit : {100, 175, 250}) {
        const double power = std::min(limit * 0.98, 210.0);
        const double time = (speech ? 600.0 : 30.0) * (1.0 + 0.5 / (size + 1)) * (0.5 + 0.5 * 210.0 / power);
        csv += fmt::format("{},{},{},{},{:.3f},{:.3f}\n", job, (speech ? 48 : 256) << size,
                           speech ? "adamw" : "adadelta", limit, time, power);
      }
    }
  }
  return trace::parse_power_trace(name, csv);
}

std::vector<PaperGpu> two_gpus() {
  return paper_gpus(train_trace(), std::vector{power_trace("dir/power_a40.csv"), power_trace("dir/power_v100.csv")});
}

std::string outline(const records::Findings& findings) {
  std::string text = findings.title + "\n";
  const auto describe = [&](const auto& figure) {
    using Figure = std::decay_t<decltype(figure)>;
    if constexpr (std::is_same_v<Figure, records::XyChart>) {
      text += fmt::format("  lines: {} | {} | {} |", figure.title, figure.x.label, figure.y.label);
      for (const records::ChartSeries& series : figure.series) {
        text += fmt::format(" {} ({})", series.name, series.points.size());
      }
    } else if constexpr (std::is_same_v<Figure, records::BarChart>) {
      text += fmt::format("  bars: {} | {} | {} |", figure.title, figure.y.label, fmt::join(figure.groups, ", "));
      for (const records::BarSeries& series : figure.series) {
        text += " " + series.name;
      }
    } else if constexpr (std::is_same_v<Figure, records::GridChart>) {
      text += fmt::format("  grid: {} | {} x {}", figure.title, figure.columns.size(), figure.rows.size());
    } else if constexpr (std::is_same_v<Figure, records::FindingsSamples>) {
      text += fmt::format("  samples: {} | {} x {}", figure.key, figure.groups.size(), figure.values.front().size());
    } else {
      text +=
          fmt::format("  table: {} | {} | {} rows", figure.title, fmt::join(figure.columns, ", "), figure.rows.size());
    }
    text += "\n";
  };
  for (const records::ScorecardRow& row : findings.scorecard) {
    text += fmt::format("  scored: {} | {} | {} | {}\n", row.key, row.where, row.claim, row.paper);
  }
  for (const records::FindingsSection& section : findings.sections) {
    text += section.title + "\n";
    for (const records::FindingsFigure& figure : section.figures) {
      std::visit(describe, figure);
    }
  }
  return text;
}

const records::FindingsTable& table_of(const records::Findings& findings, std::string_view title) {
  for (const records::FindingsSection& section : findings.sections) {
    for (const records::FindingsFigure& figure : section.figures) {
      const auto* table = std::get_if<records::FindingsTable>(&figure);
      if (table != nullptr && table->title == title) {
        return *table;
      }
    }
  }
  throw std::runtime_error{"no table " + std::string{title}};
}

TEST(PaperStudy, HasTheReviewedExperiments) {
  const records::Findings findings = find_out({.gpus = two_gpus(), .source = "Test.", .seeds = 2});
  test::expect_golden("research/paper_outline.txt", outline(findings));
}

TEST(PaperStudy, UsesTheV100AsMainGpuAndShowsThePapersNumbersBesideItsOwn) {
  const records::Findings findings = find_out({.gpus = two_gpus(), .source = "Test.", .seeds = 2});
  EXPECT_NE(findings.paragraphs[0].find("the main GPU is V100"), std::string::npos);
  const records::FindingsTable& savings = table_of(findings, "Energy saved, least to most of the jobs");
  EXPECT_EQ(savings.rows.back()[3], "23.8 % to 74.7 %");
  EXPECT_EQ(savings.rows[0][0], "A40");
  const records::FindingsTable& last = table_of(findings, "Beside the paper (6.2)");
  EXPECT_EQ(last.rows.back()[1], "-75.8 % to -15.3 %");
}

TEST(PaperStudy, ShowsAllFourGpusWhoseTracesAreGiven) {
  std::vector<trace::PowerTrace> power;
  for (const char* gpu : {"a40", "v100", "rtx6000", "p100"}) {
    power.push_back(power_trace(fmt::format("trace/summary_power_{}.csv", gpu)));
  }
  const records::Findings findings =
      find_out({.gpus = paper_gpus(train_trace(), power), .source = "Test.", .seeds = 2});
  const records::FindingsTable& means = table_of(findings, "Geometric mean of energy / Default's");
  ASSERT_EQ(means.rows.size(), 4U);
  EXPECT_EQ(means.rows[2][0], "RTX6000");
  EXPECT_EQ(means.rows[3][0], "P100");
  const auto all = std::ranges::find(findings.scorecard, "gpus", &records::ScorecardRow::key);
  ASSERT_NE(all, findings.scorecard.end());
  EXPECT_NE(all->claim.find("(A40, V100, RTX6000, P100)"), std::string::npos) << all->claim;
  EXPECT_EQ(std::ranges::count(findings.scorecard, "other_gpus", &records::ScorecardRow::key), 0);
}

TEST(PaperStudy, DoesWithoutALimitThatOneBatchSizeLacks) {
  trace::PowerTrace power = power_trace("v100.csv");
  std::erase_if(power.rows,
                [](const trace::PowerRow& row) { return row.batch_size == 48 && row.profile.limit == Watts{175}; });
  const records::Findings findings =
      find_out({.gpus = paper_gpus(train_trace(), std::vector{power}), .source = "Test.", .seeds = 2});
  EXPECT_EQ(table_of(findings, "The best (batch size, limit)").rows[0][3], "(96, 100 W)");
}

TEST(PaperStudy, FindsTheBestConfigurationOfTheTrace) {
  const records::Findings findings = find_out({.gpus = two_gpus(), .source = "Test.", .seeds = 1});
  const records::FindingsTable& best = table_of(findings, "The best (batch size, limit)");
  // Batch sizes 48 and 96 need 2.25 epochs of 600 x 1.5 and 600 x 1.25 s: 96 wins; 384 misses at times and is left out.
  EXPECT_EQ(best.rows[0][0], "DeepSpeech2");
  EXPECT_EQ(best.rows[0][1], "(96, 250 W)");
  EXPECT_EQ(best.rows[0][3], "(96, 100 W)");
}

TEST(PaperStudy, IsAFunctionOfItsArguments) {
  const PaperStudy study{.gpus = two_gpus(), .source = "Test.", .seeds = 2};
  EXPECT_EQ(find_out(study), find_out(study));
}

TEST(PaperStudy, ReportsItsProgress) {
  int told = 0;
  static_cast<void>(find_out({.gpus = two_gpus(), .source = "Test.", .seeds = 1}, [&](std::string_view) { ++told; }));
  EXPECT_GE(told, 10);
}

TEST(PaperStudy, RefusesNothingToDo) {
  EXPECT_THROW(find_out({.gpus = {}, .source = "", .seeds = 1}), Error);
  EXPECT_THROW(find_out({.gpus = two_gpus(), .source = "", .seeds = 0}), Error);
}

TEST(PaperSetting, RefusesTracesWithoutAnyOfTheJobs) {
  const auto train = trace::parse_train_trace(
      "t.csv",
      "dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch\na,b,8,c,0.1,0,0.5,3\n");
  EXPECT_THROW(paper_gpus(train, std::vector{power_trace("v100.csv")}), Error);
}

TEST(PaperSetting, TakesTheLargestBatchSizeIfTheDefaultIsMissing) {
  // The traces contain the defaults of DeepSpeech2, 192, and of ShuffleNet V2, 1024.
  const std::vector<PaperGpu> gpus = two_gpus();
  EXPECT_EQ(gpus[0].workloads[0].workload.default_batch_size, 192);
  trace::PowerTrace small = power_trace("v100.csv");
  std::erase_if(small.rows, [](const trace::PowerRow& row) { return row.batch_size >= 192 && row.batch_size < 256; });
  EXPECT_EQ(paper_gpus(train_trace(), std::vector{small})[0].workloads[0].workload.default_batch_size, 384);
}

TEST(ModelledGpus, HaveAllSixJobsAndDefaultsThatReachTheTarget) {
  for (const PaperGpu& gpu : modelled_gpus()) {
    EXPECT_EQ(gpu.workloads.size(), paper_jobs().size());
    for (const PaperWorkload& job : gpu.workloads) {
      const simulate::Workload& workload = job.workload;
      EXPECT_TRUE(workload.arms[workload.arm_of(workload.default_batch_size)].always_reaches(workload.max_epochs))
          << gpu.name << ' ' << job.name;
      EXPECT_TRUE(std::ranges::is_sorted(workload.limits()));
    }
  }
}

}  // namespace
}  // namespace zeus::research
