// What a study found, as figures and tables with words around them, ready to be shown. Whoever computes it
// knows nothing of how it is drawn, and the other way round. Plain values; copy them freely between threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus::records {

struct ChartAxis {
  std::string label;  // with its unit
  bool logarithmic = false;
  bool from_zero = false;

  friend bool operator==(const ChartAxis&, const ChartAxis&) = default;
};

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
  double low = 0.0;  // of y; where it does not differ from `high`, no range is drawn
  double high = 0.0;
  std::string label;  // perhaps nothing

  friend bool operator==(const ChartPoint&, const ChartPoint&) = default;
};

enum class SeriesStyle { line, line_and_points, points, faint_points, large_points };

struct ChartSeries {
  std::string name;
  SeriesStyle style = SeriesStyle::line;
  std::vector<ChartPoint> points;
  std::string key = {};  // names the points' numbers for whoever reads the page by script; empty: they are not given

  friend bool operator==(const ChartSeries&, const ChartSeries&) = default;
};

// Something that happened at this x.
struct ChartMark {
  double x = 0.0;
  std::string label;

  friend bool operator==(const ChartMark&, const ChartMark&) = default;
};

// Points and lines over two axes.
struct XyChart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  std::optional<double> reference;  // a line across at this y
  std::vector<ChartMark> marks = {};

  friend bool operator==(const XyChart&, const XyChart&) = default;
};

struct BarSeries {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each group; nothing where there is none
  std::vector<double> deviations;             // empty, or one for each group

  friend bool operator==(const BarSeries&, const BarSeries&) = default;
};

// Bars side by side in groups.
struct BarChart {
  std::string title;
  ChartAxis y;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
  std::optional<double> reference;

  friend bool operator==(const BarChart&, const BarChart&) = default;
};

struct GridCell {
  std::size_t column = 0;
  std::size_t row = 0;

  friend bool operator==(const GridCell&, const GridCell&) = default;
};

// A field of values, the darker the lower, and a path through it.
struct GridChart {
  std::string title;
  std::string column_label;
  std::string row_label;
  std::string value_label;
  std::vector<std::string> columns;
  std::vector<std::string> rows;              // from the bottom up
  std::vector<std::optional<double>> values;  // row by row; nothing where there is none
  std::vector<GridCell> path;

  friend bool operator==(const GridChart&, const GridChart&) = default;
};

struct FindingsTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  friend bool operator==(const FindingsTable&, const FindingsTable&) = default;
};

using FindingsFigure = std::variant<XyChart, BarChart, GridChart, FindingsTable>;

struct FindingsSection {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<FindingsFigure> figures;

  friend bool operator==(const FindingsSection&, const FindingsSection&) = default;
};

struct Findings {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<FindingsSection> sections;

  friend bool operator==(const Findings&, const Findings&) = default;
};

}  // namespace zeus::records
