#include "report/bar_chart.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace zeus::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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
