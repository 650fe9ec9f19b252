// A chart of points and lines over two axes, ready to be drawn. The code that computes it and the code that draws it
// know nothing of each other. A plain value; copy it freely between threads.
#pragma once

#include <zeus/fields.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

struct ChartAxis {
  std::string label;  // including its unit
  bool logarithmic = false;
  bool from_zero = false;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("label", self.label);
    fields("logarithmic", self.logarithmic);
    fields("from_zero", self.from_zero);
  }

  friend bool operator==(const ChartAxis&, const ChartAxis&) = default;
};

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
  double low = 0.0;  // of y; no range is drawn if it equals `high`
  double high = 0.0;
  std::string label;  // may be empty

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("x", self.x);
    fields("y", self.y);
    fields("low", self.low);
    fields("high", self.high);
    fields("label", self.label);
  }

  friend bool operator==(const ChartPoint&, const ChartPoint&) = default;
};

enum class SeriesStyle { line, line_and_points, points, faint_points, large_points };

constexpr auto names_of(SeriesStyle /*style*/) {
  return std::array<field::Name<SeriesStyle>, 5>{{{SeriesStyle::line, "line"},
                                                  {SeriesStyle::line_and_points, "line_and_points"},
                                                  {SeriesStyle::points, "points"},
                                                  {SeriesStyle::faint_points, "faint_points"},
                                                  {SeriesStyle::large_points, "large_points"}}};
}

struct ChartSeries {
  std::string name;
  SeriesStyle style = SeriesStyle::line;
  std::vector<ChartPoint> points;
  std::string key = {};  // names the points' numbers for scripts that read the page; empty: they are not included

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("style", self.style);
    fields("points", self.points);
    fields("key", self.key);
  }

  friend bool operator==(const ChartSeries&, const ChartSeries&) = default;
};

// Something that happened at this x.
struct ChartMark {
  double x = 0.0;
  std::string label;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("x", self.x);
    fields("label", self.label);
  }

  friend bool operator==(const ChartMark&, const ChartMark&) = default;
};

// Points and lines over two axes.
struct XyChart {
  static constexpr std::string_view kind = "chart";
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  std::optional<double> reference;  // a horizontal line at this y
  std::vector<ChartMark> marks = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("x_axis", self.x);
    fields("y_axis", self.y);
    fields("series", self.series);
    fields("reference", self.reference, field::because("no value stands out"));
    fields("marks", self.marks);
  }

  friend bool operator==(const XyChart&, const XyChart&) = default;
};

struct GridCell {
  std::size_t column = 0;
  std::size_t row = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("column", self.column);
    fields("row", self.row);
  }

  friend bool operator==(const GridCell&, const GridCell&) = default;
};

// A grid of values, the darker the lower, and a path through it.
struct GridChart {
  static constexpr std::string_view kind = "grid";
  std::string title;
  std::string column_label;
  std::string row_label;
  std::string value_label;
  std::vector<std::string> columns;
  std::vector<std::string> rows;              // from the bottom up
  std::vector<std::optional<double>> values;  // row by row; nothing if there is none
  std::vector<GridCell> path;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("column_label", self.column_label);
    fields("row_label", self.row_label);
    fields("value_label", self.value_label);
    fields("columns", self.columns);
    fields("rows", self.rows);
    fields("values", self.values);
    fields("path", self.path);
  }

  friend bool operator==(const GridChart&, const GridChart&) = default;
};

}  // namespace zeus::records
