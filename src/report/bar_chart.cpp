#include "report/bar_chart.hpp"

#include "report/markup.hpp"
#include "report/plot.hpp"
#include "report/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::report {

namespace {

constexpr double gap_between_groups = 0.26;  // part of a group's width
constexpr double group_letter = 6.6;         // the width of a letter of a group's name, rounded up
constexpr double label_height = 15;

// If the names of the groups do not fit side by side, every second one is a line lower.
bool in_two_lines(const records::BarChart& chart, const PlotBox& box) {
  std::size_t longest = 0;
  for (const std::string& group : chart.groups) {
    longest = std::max(longest, group.size());
  }
  const double room =
      (box.width - box.left - box.right) / static_cast<double>(std::max<std::size_t>(chart.groups.size(), 1));
  return group_letter * static_cast<double>(longest) > room;
}

double deviation_of(const records::BarSeries& series, std::size_t group) {
  return group < series.deviations.size() && std::isfinite(series.deviations[group]) ? series.deviations[group] : 0.0;
}

// Bars stand on 0, or on a logarithmic axis on a power of two below the lowest value.
struct Extent {
  double low = 0.0;
  double high = 1.0;
};

Extent extent_of(const records::BarChart& chart) {
  double lowest = chart.reference.value_or(1.0);
  double highest = chart.reference.value_or(0.0);
  for (const records::BarSeries& series : chart.series) {
    for (std::size_t group = 0; group < series.values.size(); ++group) {
      if (series.values[group] && std::isfinite(*series.values[group])) {
        highest = std::max(highest, *series.values[group] + deviation_of(series, group));
        lowest = *series.values[group] > 0.0 ? std::min(lowest, *series.values[group]) : lowest;
      }
    }
  }
  highest = highest > 0.0 ? highest * 1.06 : 1.0;
  return {.low = chart.y.logarithmic ? std::exp2(std::floor(std::log2(0.7 * lowest))) : 0.0, .high = highest};
}

std::string bar(double x, double width, double top, double bottom, std::string_view color, std::string_view says) {
  return fmt::format(R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{}</title></rect>)svg",
                     coordinate(x), coordinate(top), coordinate(width), coordinate(std::max(bottom - top, 0.5)), color,
                     escaped(says));
}

std::string whisker(double x, double low, double high) {
  return fmt::format(R"svg(<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" stroke="var(--ink)"/>)svg", coordinate(x),
                     coordinate(low), coordinate(high));
}

}  // namespace

std::string draw(const records::BarChart& chart) {
  const bool two_lines = in_two_lines(chart, {});
  Plot plot{{.height = 280, .bottom = two_lines ? 26 + label_height : 26},
            chart.title,
            fmt::format("{}: {}", chart.title, chart.y.label)};
  const Extent extent = extent_of(chart);
  const Scale y{chart.y.logarithmic, extent.low, extent.high, plot.bottom_edge(), plot.box().top};
  plot.y_axis(y, label_of(chart.y), 5);
  const double left = plot.box().left;
  const double group_width =
      (plot.right_edge() - left) / static_cast<double>(std::max<std::size_t>(chart.groups.size(), 1));
  const double bar_width =
      group_width * (1.0 - gap_between_groups) / static_cast<double>(std::max<std::size_t>(chart.series.size(), 1));
  for (std::size_t group = 0; group < chart.groups.size(); ++group) {
    const double start = left + group_width * (static_cast<double>(group) + 0.5 * gap_between_groups);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const records::BarSeries& series = chart.series[i];
      if (group >= series.values.size() || !series.values[group] || !std::isfinite(*series.values[group])) {
        continue;
      }
      const double value = *series.values[group];
      const double deviation = deviation_of(series, group);
      const double x = start + bar_width * static_cast<double>(i);
      plot.add(bar(x + 0.5, bar_width - 1.0, y.at(std::max(value, extent.low)), y.at(extent.low), series_color(i),
                   fmt::format("{}, {}: {} {}", chart.groups[group], series.name, readable(value), chart.y.label)));
      if (deviation > 0.0) {
        plot.add(whisker(x + bar_width / 2, y.at(std::max(value - deviation, extent.low)), y.at(value + deviation)));
      }
    }
    const double line = two_lines && group % 2 == 1 ? label_height : 0.0;
    plot.text(left + group_width * (static_cast<double>(group) + 0.5), plot.bottom_edge() + 16 + line, "middle",
              chart.groups[group]);
  }
  if (chart.reference) {
    plot.across(y.at(*chart.reference));
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    plot.legend(series_color(i), chart.series[i].name);
  }
  return std::move(plot).take();
}

}  // namespace zeus::report
