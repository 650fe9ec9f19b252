#include "run/progress_sources.hpp"

#include <gtest/gtest.h>

namespace zeus::run {
namespace {

TEST(ProgressSources, ProgressFromASingleSourceIsUsedUnchanged) {
  ProgressSources sources;
  EXPECT_EQ(std::get<trial::StepsDone>(*sources.printed(trial::StepsDone{3})).count, 3U);
  EXPECT_EQ(std::get<trial::EpochsDone>(*sources.printed(trial::EpochsDone{2})).count, 2U);
  EXPECT_EQ(std::get<trial::MetricSeen>(*sources.reported(trial::MetricSeen{0.5})).value, 0.5);
  EXPECT_TRUE(sources.metric_reported());
}

TEST(ProgressSources, ReportedProgressIsIgnoredIfItIsPrintedToo) {
  ProgressSources sources;
  EXPECT_TRUE(sources.reported(trial::StepsDone{1}));
  EXPECT_FALSE(sources.printed(trial::StepsDone{1}));
  EXPECT_TRUE(sources.reported(trial::MetricSeen{0.5}));
  EXPECT_FALSE(sources.printed(trial::MetricSeen{0.5}));
}

TEST(ProgressSources, AnEpochCountsWhenTheFirstSourceReportsIt) {
  ProgressSources sources;
  EXPECT_TRUE(sources.printed(trial::EpochsDone{1}));
  EXPECT_FALSE(sources.reported(trial::EpochsDone{1}));
  EXPECT_TRUE(sources.reported(trial::EpochsDone{1}));
  EXPECT_FALSE(sources.printed(trial::EpochsDone{1}));
  EXPECT_EQ(std::get<trial::EpochsDone>(*sources.printed(trial::EpochsDone{3})).count, 3U);
  EXPECT_FALSE(sources.reported(trial::EpochsDone{3}));
}

}  // namespace
}  // namespace zeus::run
