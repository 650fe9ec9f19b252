#include "report/chart.hpp"
#include "report/color.hpp"
#include "report/markup.hpp"
#include "report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::report {

namespace {

constexpr double column_letter = 6.1;  // the width of a letter of a column's name, rounded up

// Differences near the lowest value matter most: half of the colours lie below 0.5.
std::string color_of(double value) {
  return to_css(heat(std::max(value, 0.0) / (std::max(value, 0.0) + 0.5)));
}

class GridDrawing {
 public:
  explicit GridDrawing(const records::GridChart& chart)
      : chart_{chart},
        plot_{{.height = 250},
              chart.title,
              fmt::format("{}: {} by {} and {}", chart.title, chart.value_label, chart.column_label, chart.row_label)},
        width_{(plot_.right_edge() - plot_.box().left) / count(chart.columns)},
        height_{(plot_.bottom_edge() - plot_.box().top) / count(chart.rows)} {}

  std::string draw() && {
    cells();
    labels();
    path();
    scale();
    return std::move(plot_).take();
  }

 private:
  static double count(const std::vector<std::string>& names) {
    return static_cast<double>(std::max<std::size_t>(names.size(), 1));
  }
  [[nodiscard]] double x(double column) const { return plot_.box().left + width_ * column; }
  [[nodiscard]] double y(double row) const { return plot_.bottom_edge() - height_ * row; }

  void cells() {
    for (std::size_t i = 0; i < chart_.values.size() && !chart_.columns.empty(); ++i) {
      const std::size_t column = i % chart_.columns.size();
      const std::size_t row = i / chart_.columns.size();
      const std::optional<double> value = chart_.values[i];
      const bool known = value && std::isfinite(*value) && *value > -1.0;
      const std::string fill = known ? color_of(*value) : "none";
      const std::string says =
          fmt::format("{} {}, {} {}: {}", chart_.column_label, chart_.columns[column], chart_.row_label,
                      row < chart_.rows.size() ? chart_.rows[row] : "", known ? readable(*value) : "nothing");
      plot_.add(fmt::format(
          R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="var(--panel)" pointer-events="all"><title>{}</title></rect>)svg",
          coordinate(x(static_cast<double>(column))), coordinate(y(static_cast<double>(row) + 1)), coordinate(width_),
          coordinate(height_), fill, escaped(says)));
    }
  }

  void labels() {
    std::size_t longest = 1;
    for (const std::string& name : chart_.columns) {
      longest = std::max(longest, name.size());
    }
    const auto stride =
        static_cast<std::size_t>(std::ceil((column_letter * static_cast<double>(longest) + 6) / width_));
    for (std::size_t i = 0; i < chart_.columns.size(); i += std::max<std::size_t>(stride, 1)) {
      plot_.text(x(static_cast<double>(i) + 0.5), plot_.bottom_edge() + 16, "middle", chart_.columns[i]);
    }
    plot_.x_label(chart_.column_label);
    for (std::size_t i = 0; i < chart_.rows.size(); ++i) {
      plot_.text(plot_.box().left - 6, y(static_cast<double>(i) + 0.5) + 4, "end", chart_.rows[i]);
    }
    plot_.add(fmt::format(
        R"svg(<text class="label" transform="translate(13 {}) rotate(-90)" text-anchor="middle">{}</text>)svg",
        coordinate((plot_.box().top + plot_.bottom_edge()) / 2), escaped(chart_.row_label)));
  }

  // The legend of the colours.
  void scale() {
    plot_.legend("none", chart_.value_label + ":");
    for (const double value : {0.0, 0.1, 0.25, 0.5, 1.0, 3.0}) {
      plot_.legend(color_of(value), fmt::format("{:g}", value));
    }
  }

  // Each visit is drawn a little off the middle, so that the order within a cell shows.
  void path() {
    if (chart_.path.empty()) {
      return;
    }
    std::string points;
    double px = 0.0;
    double py = 0.0;
    std::string first;
    for (std::size_t i = 0; i < chart_.path.size(); ++i) {
      const double turn = static_cast<double>(i % 7) / 7.0 - 0.43;
      px = x(static_cast<double>(chart_.path[i].column) + 0.5 + 0.3 * turn);
      py = y(static_cast<double>(chart_.path[i].row) + 0.5 - 0.3 * turn);
      points += fmt::format("{},{} ", coordinate(px), coordinate(py));
      if (i == 0) {
        first = fmt::format(
            R"svg(<circle cx="{}" cy="{}" r="6" fill="none" stroke="#fff" stroke-width="4"/><circle cx="{}" cy="{}" r="6" fill="none" stroke="#c2410c" stroke-width="2.5"/>)svg",
            coordinate(px), coordinate(py), coordinate(px), coordinate(py));
      }
    }
    plot_.add(fmt::format(
        R"svg(<g pointer-events="none"><polyline points="{0}" fill="none" stroke="#fff" stroke-width="3" opacity=".75"/><polyline points="{0}" fill="none" stroke="#c2410c" stroke-width="1.4"/>{1}<circle cx="{2}" cy="{3}" r="5.5" fill="#c2410c" stroke="#fff" stroke-width="1.5"/></g>)svg",
        points, first, coordinate(px), coordinate(py)));
  }

  const records::GridChart& chart_;
  Plot plot_;
  double width_;
  double height_;
};

}  // namespace

std::string draw(const records::GridChart& chart) {
  return GridDrawing{chart}.draw();
}

}  // namespace zeus::report
