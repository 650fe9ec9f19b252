#include "report/findings_report.hpp"

#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

namespace zeus::report {
namespace {

records::Findings small_findings() {
  records::XyChart lines{.title = "Regret",
                         .x = {.label = "recurrence"},
                         .y = {.label = "runs of the optimum", .from_zero = true},
                         .series = {{.name = "zeus", .style = records::SeriesStyle::line, .points = {}}},
                         .reference = {}};
  for (int i = 1; i <= 5; ++i) {
    lines.series[0].points.push_back({.x = 1.0 * i, .y = 2.0 * i, .label = {}});
  }
  const records::BarChart bars{.title = "Energy",
                               .y = {.label = "energy / Default's", .from_zero = true},
                               .groups = {"A", "B"},
                               .series = {{.name = "zeus", .values = {0.5, 0.75}, .deviations = {0.05, 0.0}}},
                               .reference = 1.0};
  const records::FindingsTable table{
      .title = "Beside the paper", .columns = {"", "here", "the paper"}, .rows = {{"saved <most>", "25 %", "26 %"}}};
  return {.title = "Found & shown",
          .paragraphs = {"One.", "Two."},
          .scorecard = {},
          .sections = {{.title = "First", .paragraphs = {"Why."}, .figures = {lines, bars, table}},
                       {.title = "Second", .paragraphs = {}, .figures = {table, lines}}}};
}

TEST(FindingsReport, MatchesTheReviewedPage) {
  test::expect_golden("report/findings.html", findings_report(small_findings()));
}

TEST(FindingsReport, BeginsWithTheScorecardIfThereIsOne) {
  records::Findings findings = small_findings();
  EXPECT_EQ(findings_report(findings).find("Scorecard"), std::string::npos);
  findings.scorecard.push_back({.key = "k",
                                .where = "6.2",
                                .claim = "saves <much>",
                                .paper = "15 %",
                                .here = "20 %",
                                .value = 0.2,
                                .low = 0.1,
                                .high = 0.3,
                                .verdict = records::Verdict::too_uncertain,
                                .reason = "why & how"});
  const std::string html = findings_report(findings);
  const std::size_t scorecard = html.find("<h2>Scorecard</h2>");
  ASSERT_NE(scorecard, std::string::npos);
  EXPECT_LT(scorecard, html.find("<h2>First</h2>"));
  for (const char* there :
       {"saves &lt;much&gt;", "why &amp; how", "<td>too uncertain to say</td>", "1 are too uncertain"}) {
    EXPECT_NE(html.find(there), std::string::npos) << there;
  }
}

TEST(FindingsReport, DrawsNoSamples) {
  records::Findings findings = small_findings();
  const std::string without = findings_report(findings);
  findings.sections[0].figures.insert(findings.sections[0].figures.begin() + 1,
                                      records::FindingsSamples{.key = "k", .groups = {"a"}, .values = {{1.0, 2.0}}});
  EXPECT_EQ(findings_report(findings), without);
}

TEST(FindingsReport, IsSelfContained) {
  const std::string html = findings_report(small_findings());
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST(FindingsReport, ClosesEveryTagItOpens) {
  const std::string html = findings_report(small_findings());
  for (const std::string tag : {"div", "section", "table", "tr", "svg", "p"}) {
    std::size_t opened = 0;
    std::size_t closed = 0;
    for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
      const char after = html[std::min(html.size() - 1, at + 1 + tag.size())];
      opened += html.compare(at + 1, tag.size(), tag) == 0 && (after == ' ' || after == '>') ? 1 : 0;
      closed += html.compare(at + 1, tag.size() + 1, "/" + tag) == 0 ? 1 : 0;
    }
    EXPECT_EQ(opened, closed) << tag;
  }
}

}  // namespace
}  // namespace zeus::report
