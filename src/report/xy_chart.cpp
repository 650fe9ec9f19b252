#include "report/chart.hpp"
#include "report/markup.hpp"
#include "report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace zeus::report {

namespace {

using records::ChartAxis;
using records::ChartPoint;
using records::ChartSeries;
using records::SeriesStyle;

constexpr std::size_t most_points = 400;  // in a line; more cannot be distinguished

struct Range {
  double low = 0.0;
  double high = 1.0;
  bool any = false;

  void take(double value) {
    if (!std::isfinite(value)) {
      return;
    }
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
};

bool has_range(const ChartPoint& point) {
  return point.low != point.high;
}

bool drawable(const ChartAxis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0.0);
}

Scale scale_of(const ChartAxis& axis, Range range, double from, double to) {
  if (axis.from_zero) {
    range.low = std::min(range.low, 0.0);
    range.high = std::max(range.high, 0.0);
    const double margin = 0.04 * (range.high - range.low);
    range.high += range.high > 0.0 ? margin : 0.0;
    range.low -= range.low < 0.0 ? margin : 0.0;
  } else if (axis.logarithmic) {
    const double margin = std::pow(range.high / range.low, 0.04) * 1.02;
    range.low /= margin;
    range.high *= margin;
  } else {
    const double margin = 0.05 * (range.high - range.low);
    range.low -= margin;
    range.high += margin;
  }
  return {axis.logarithmic, range.low, range.high, from, to};
}

class XyDrawing {
 public:
  explicit XyDrawing(const records::XyChart& chart)
      : chart_{chart},
        plot_{{}, chart.title, fmt::format("{}: {} over {}", chart.title, chart.y.label, chart.x.label)},
        x_{scale_of(chart.x, range(true), plot_.box().left, plot_.right_edge())},
        y_{scale_of(chart.y, range(false), plot_.bottom_edge(), plot_.box().top)} {}

  std::string draw() && {
    plot_.x_axis(x_, label_of(chart_.x), 6);
    plot_.y_axis(y_, label_of(chart_.y), 5);
    if (chart_.reference && drawable(chart_.y, *chart_.reference)) {
      plot_.across(y_.at(*chart_.reference));
    }
    for (const records::ChartMark& mark : chart_.marks) {
      if (drawable(chart_.x, mark.x)) {
        plot_.down(x_.at(mark.x), mark.label);
      }
    }
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      draw(chart_.series[i], series_color(i));
      if (!chart_.series[i].points.empty()) {
        plot_.legend(series_color(i), chart_.series[i].name);
      }
    }
    for (const records::ChartMark& mark : chart_.marks) {
      if (drawable(chart_.x, mark.x)) {
        plot_.legend(mark_color, mark.label);
      }
    }
    return std::move(plot_).take();
  }

 private:
  [[nodiscard]] Range range(bool of_x) const {
    Range range;
    for (const ChartSeries& series : chart_.series) {
      for (const ChartPoint& point : series.points) {
        if (of_x ? drawable(chart_.x, point.x) : drawable(chart_.y, point.y)) {
          range.take(of_x ? point.x : point.y);
        }
        if (!of_x && has_range(point)) {
          range.take(point.low);
          range.take(point.high);
        }
      }
    }
    if (!of_x && chart_.reference) {
      range.take(*chart_.reference);
    }
    if (!range.any && (of_x ? chart_.x : chart_.y).logarithmic) {
      range = {.low = 1.0, .high = 2.0, .any = true};
    }
    return range;
  }

  void draw(const ChartSeries& series, std::string_view color) {
    std::vector<const ChartPoint*> points;
    const std::size_t stride = series.points.size() / most_points + 1;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const ChartPoint& point = series.points[i];
      const bool kept = i % stride == 0 || i + 1 == series.points.size();
      if (kept && drawable(chart_.x, point.x) && drawable(chart_.y, point.y)) {
        points.push_back(&point);
      }
    }
    const bool line = series.style == SeriesStyle::line || series.style == SeriesStyle::line_and_points;
    if (line) {
      band(points, color);
      std::string path;
      for (const ChartPoint* point : points) {
        path += fmt::format("{},{} ", coordinate(x_.at(point->x)), coordinate(y_.at(point->y)));
      }
      plot_.add(fmt::format(R"svg(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)svg", path, color));
    }
    if (series.style != SeriesStyle::line) {
      for (const ChartPoint* point : points) {
        dot(*point, series, color);
      }
    }
  }

  void band(const std::vector<const ChartPoint*>& points, std::string_view color) {
    std::string upper;
    std::string lower;
    for (const ChartPoint* point : points) {
      if (has_range(*point)) {
        upper += fmt::format("{},{} ", coordinate(x_.at(point->x)), coordinate(y_.at(point->high)));
        lower.insert(0, fmt::format("{},{} ", coordinate(x_.at(point->x)), coordinate(y_.at(point->low))));
      }
    }
    if (!upper.empty()) {
      plot_.add(fmt::format(R"svg(<polygon points="{}{}" fill="{}" opacity=".16"/>)svg", upper, lower, color));
    }
  }

  void dot(const ChartPoint& point, const ChartSeries& series, std::string_view color) {
    double radius = 3.2;
    std::string_view opacity = "1";
    if (series.style == SeriesStyle::large_points) {
      radius = 6.0;
    } else if (series.style == SeriesStyle::faint_points) {
      radius = 2.6;
      opacity = ".45";
    }
    if (series.style != SeriesStyle::line_and_points && has_range(point)) {
      plot_.add(fmt::format(R"svg(<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" stroke="{3}" stroke-width="2"/>)svg",
                            coordinate(x_.at(point.x)), coordinate(y_.at(point.low)), coordinate(y_.at(point.high)),
                            color));
    }
    const std::string says = fmt::format("{}{}{} {}, {} {}", point.label, point.label.empty() ? "" : ": ",
                                         readable(point.x), chart_.x.label, readable(point.y), chart_.y.label);
    plot_.add(fmt::format(R"svg(<circle cx="{}" cy="{}" r="{}" fill="{}" opacity="{}"{}><title>{}</title></circle>)svg",
                          coordinate(x_.at(point.x)), coordinate(y_.at(point.y)), coordinate(radius), color, opacity,
                          numbers(point, series.key), escaped(says)));
  }

  static std::string numbers(const ChartPoint& point, const std::string& key) {
    if (key.empty()) {
      return {};
    }
    std::string attributes =
        fmt::format(R"( data-series="{}" data-x="{}" data-y="{}")", escaped(key), point.x, point.y);
    if (has_range(point)) {
      attributes += fmt::format(R"( data-low="{}" data-high="{}")", point.low, point.high);
    }
    return attributes;
  }

  const records::XyChart& chart_;
  Plot plot_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string draw(const records::XyChart& chart) {
  return XyDrawing{chart}.draw();
}

}  // namespace zeus::report
