#include "report/pipeline_report.hpp"

#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

namespace zeus::report {
namespace {

records::PipelineStudy small_study() {
  const records::TimelineBox first{"forward 0.0", 0, 0_s, 1_s, 1410_MHz, 300_W};
  const records::TimelineBox second{"forward 1.0", 1, 1_s, 2_s, 1410_MHz, 250_W};
  records::TimelineBox slow = first;
  slow.duration = 1.5_s;
  slow.frequency = 900_MHz;
  slow.power = 150_W;
  const records::Timeline fastest{3_s, 1000_J, 990_J, {first, second}, {0, 1}};
  const records::Timeline plan{3_s, 900_J, 899_J, {slow, second}, {1}};
  return {.title = "Pipeline <A>",
          .subtitle = "2 stages",
          .devices = 2,
          .copies = 1,
          .blocking_power = 70_W,
          .least_energy = 4_s,
          .frontier = {{3_s, 899_J}, {4_s, 800_J}},
          .fastest = fastest,
          .plans = {plan, plan},
          .chosen = 1};
}

TEST(PipelineReport, MatchesTheReviewedPage) {
  test::expect_golden("report/pipeline.html", pipeline_report(small_study()));
}

TEST(PipelineReport, IsSelfContained) {
  const std::string html = pipeline_report(small_study());
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST(PipelineReport, ShowsOnlyTheChosenPlanUntilAnotherIsPointedAt) {
  const std::string html = pipeline_report(small_study());
  EXPECT_NE(html.find(R"(id="plan-0" hidden)"), std::string::npos);
  EXPECT_NE(html.find(R"(id="plan-1">)"), std::string::npos);
}

TEST(PipelineReport, StaysSmallForLargePipelines) {
  records::PipelineStudy study = small_study();
  const records::TimelineBox box = study.fastest.boxes.front();
  study.fastest.boxes.resize(20'000, box);
  study.plans.assign(10, study.fastest);
  EXPECT_LT(pipeline_report(study).size(), 16'000'000u);
}

records::MeasuredStudy small_measured_study() {
  const records::PipelineStudy planned = small_study();
  return {.devices = 2,
          .before = {.timeline = planned.fastest,
                     .time_uncertainty = 0.01_s,
                     .energy_uncertainty = 4_J,
                     .iterations = 20,
                     .claimed = records::StudyPoint{3_s, 990_J}},
          .after = {.timeline = planned.plans[0],
                    .time_uncertainty = 0.02_s,
                    .energy_uncertainty = 5_J,
                    .iterations = 21,
                    .claimed = records::StudyPoint{3_s, 880_J}}};
}

TEST(PipelineReport, ShowsWhatWasMeasuredAsTheReviewedPage) {
  test::expect_golden("report/pipeline_measured.html", measured_report(small_measured_study()));
}

TEST(PipelineReport, WithoutClaimsShowsNone) {
  records::MeasuredStudy study = small_measured_study();
  study.after.claimed.reset();
  EXPECT_EQ(measured_report(study).find("claimed by the plan"), std::string::npos);
}

}  // namespace
}  // namespace zeus::report
