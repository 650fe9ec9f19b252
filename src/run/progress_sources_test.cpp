#include "run/progress_sources.hpp"

#include <gtest/gtest.h>

namespace zeus::run {
namespace {

TEST(ProgressSources, ProgressFromASingleSourceIsUsedUnchanged) {
  ProgressSources sources;
  EXPECT_EQ(std::get<StepsDone>(*sources.printed(StepsDone{3})).count, 3U);
  EXPECT_EQ(std::get<EpochsDone>(*sources.printed(EpochsDone{2})).count, 2U);
  EXPECT_EQ(std::get<MetricSeen>(*sources.reported(MetricSeen{0.5})).value, 0.5);
  EXPECT_TRUE(sources.metric_reported());
}

TEST(ProgressSources, ReportedProgressIsIgnoredIfItIsPrintedToo) {
  ProgressSources sources;
  EXPECT_TRUE(sources.reported(StepsDone{1}));
  EXPECT_FALSE(sources.printed(StepsDone{1}));
  EXPECT_TRUE(sources.reported(MetricSeen{0.5}));
  EXPECT_FALSE(sources.printed(MetricSeen{0.5}));
}

TEST(ProgressSources, AnEpochCountsWhenTheFirstSourceReportsIt) {
  ProgressSources sources;
  EXPECT_TRUE(sources.printed(EpochsDone{1}));
  EXPECT_FALSE(sources.reported(EpochsDone{1}));
  EXPECT_TRUE(sources.reported(EpochsDone{1}));
  EXPECT_FALSE(sources.printed(EpochsDone{1}));
  EXPECT_EQ(std::get<EpochsDone>(*sources.printed(EpochsDone{3})).count, 3U);
  EXPECT_FALSE(sources.reported(EpochsDone{3}));
}

}  // namespace
}  // namespace zeus::run
