#include "report/chart.hpp"

#include "report/bar_chart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace zeus::report {
namespace {

using records::SeriesStyle;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

void expect_drawable(const std::string& svg) {
  EXPECT_EQ(svg.rfind("<svg", 0), 0U);
  for (const char* wrong : {"nan", "inf", "<script"}) {
    EXPECT_EQ(svg.find(wrong), std::string::npos) << wrong;
  }
}

records::XyChart xy_chart() {
  return {.title = "Energy <of> \"it\"",
          .x = {.label = "time (s)"},
          .y = {.label = "energy (J)", .from_zero = true},
          .series = {{.name = "all",
                      .style = SeriesStyle::points,
                      .points = {{.x = 1, .y = 2, .label = "a<b"}, {.x = 2, .y = 3, .label = {}}}},
                     {.name = "mean",
                      .style = SeriesStyle::line,
                      .points = {{.x = 1, .y = 2, .low = 1, .high = 3, .label = {}},
                                 {.x = 2, .y = 4, .low = 3, .high = 5, .label = {}}}}},
          .reference = 1.0};
}

TEST(XyChart, LabelsItsAxesWithTheirUnitsAndNamesItsSeries) {
  const std::string svg = draw(xy_chart());
  expect_drawable(svg);
  for (const char* label :
       {">time (s)<", ">energy (J)<", ">all<", ">mean<", "Energy &lt;of&gt; &quot;it&quot;", "a&lt;b"}) {
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  }
  EXPECT_EQ(count(svg, "<circle"), 2U);
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_EQ(count(svg, "<polygon"), 1U);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 1U);
}

TEST(XyChart, LeavesOutValuesThatCannotBeDrawn) {
  records::XyChart chart = xy_chart();
  chart.series[0].points.push_back({.x = nan, .y = 1, .label = {}});
  chart.series[0].points.push_back({.x = 1, .y = infinite, .label = {}});
  expect_drawable(draw(chart));
  EXPECT_EQ(count(draw(chart), "<circle"), 2U);
  chart.x.logarithmic = true;
  chart.series[0].points.push_back({.x = 0, .y = 1, .label = {}});
  chart.series[0].points.push_back({.x = -4, .y = 1, .label = {}});
  expect_drawable(draw(chart));
  EXPECT_EQ(count(draw(chart), "<circle"), 2U);
}

TEST(XyChart, WithoutDataIsAnEmptyFrame) {
  records::XyChart chart{.title = "none", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}, .reference = {}};
  expect_drawable(draw(chart));
  chart.x.logarithmic = true;
  chart.y.logarithmic = true;
  expect_drawable(draw(chart));
}

TEST(XyChart, ThinsLinesOfManyPoints) {
  records::XyChart chart = xy_chart();
  chart.series[1].points.assign(100'000, {.x = 1, .y = 2, .label = {}});
  EXPECT_LT(draw(chart).size(), 20'000U);
}

TEST(GridChart, DrawsEachCellAndThePathThroughThem) {
  const records::GridChart chart{.title = "Grid",
                                 .column_label = "batch size",
                                 .row_label = "power limit (W)",
                                 .value_label = "cost",
                                 .columns = {"8", "16"},
                                 .rows = {"100", "200"},
                                 .values = {0.0, 0.5, std::nullopt, nan},
                                 .path = {{.column = 0, .row = 0}, {.column = 1, .row = 1}}};
  const std::string svg = draw(chart);
  expect_drawable(svg);
  EXPECT_EQ(count(svg, "<rect"), 4U + 7U);  // and the scale, with its name
  EXPECT_NE(svg.find(">cost:</text>"), std::string::npos);
  EXPECT_NE(svg.find(">0.25</text>"), std::string::npos);
  EXPECT_EQ(count(svg, "fill=\"none\" stroke=\"var(--panel)\""), 2U);
  EXPECT_EQ(count(svg, "<polyline"), 2U);
}

TEST(BarChart, DrawsABarForEachValueThatExists) {
  const records::BarChart chart{.title = "Bars",
                                .y = {.label = "energy / Default's"},
                                .groups = {"one", "two"},
                                .series = {{.name = "a", .values = {0.5, std::nullopt}, .deviations = {0.1, 0.0}},
                                           {.name = "b", .values = {nan, 1.5}, .deviations = {}}},
                                .reference = 1.0};
  const std::string svg = draw(chart);
  expect_drawable(svg);
  EXPECT_EQ(count(svg, "<rect"), 2U + 2U);  // and two in the legend
  EXPECT_EQ(count(svg, "stroke=\"var(--ink)\""), 1U);
  EXPECT_NE(svg.find("one, a: 0.500 energy / Default&#39;s"), std::string::npos);
}

TEST(BarChart, StandsOnAPowerOfTwoIfTheAxisIsLogarithmic) {
  const records::BarChart chart{.title = "Bars",
                                .y = {.label = "ratio", .logarithmic = true},
                                .groups = {"one"},
                                .series = {{.name = "a", .values = {30.0}, .deviations = {}}},
                                .reference = 1.0};
  const std::string svg = draw(chart);
  expect_drawable(svg);
  EXPECT_NE(svg.find(">0.5<"), std::string::npos);
  EXPECT_NE(svg.find(">8<"), std::string::npos);
}

TEST(BarChart, PutsEverySecondNameALineLowerIfTheyDoNotFitSideBySide) {
  records::BarChart chart{.title = "Bars",
                          .y = {.label = "ratio"},
                          .groups = {"a", "b"},
                          .series = {{.name = "one", .values = {1.0, 1.0}, .deviations = {}}},
                          .reference = {}};
  const auto line_of = [&](const std::string& name) {
    const std::string svg = draw(chart);
    const std::size_t begins = svg.rfind(" y=\"", svg.find(">" + name + "<")) + 4;
    return std::stod(svg.substr(begins, svg.find('"', begins) - begins));
  };
  EXPECT_EQ(line_of("a"), line_of("b"));
  chart.groups = {"a", "a name that is much too long for that"};
  EXPECT_LT(line_of("a"), line_of(chart.groups[1]));
}

TEST(BarChart, WithoutDataIsAnEmptyFrame) {
  expect_drawable(
      draw(records::BarChart{.title = "none", .y = {.label = "y"}, .groups = {}, .series = {}, .reference = {}}));
}

}  // namespace
}  // namespace zeus::report
