// The results of a study, as figures and tables with text around them, ready to be shown. The code that computes them
// and the code that draws them know nothing of each other. Plain values; copy them freely between threads.
#pragma once

#include "records/charts.hpp"

#include <zeus/fields.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::research {

struct BarSeries {
  std::string name;
  std::vector<std::optional<double>> values;  // one for each group; nothing if there is none
  std::vector<double> deviations;             // empty, or one for each group

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("values", self.values);
    fields("deviations", self.deviations);
  }

  friend bool operator==(const BarSeries&, const BarSeries&) = default;
};

// Bars side by side in groups.
struct BarChart {
  static constexpr std::string_view kind = "bars";
  std::string title;
  records::ChartAxis y;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
  std::optional<double> reference;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("y_axis", self.y);
    fields("groups", self.groups);
    fields("series", self.series);
    fields("reference", self.reference, field::because("no value stands out"));
  }

  friend bool operator==(const BarChart&, const BarChart&) = default;
};

struct FindingsTable {
  static constexpr std::string_view kind = "table";
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("columns", self.columns);
    fields("rows", self.rows);
  }

  friend bool operator==(const FindingsTable&, const FindingsTable&) = default;
};

using FindingsFigure = std::variant<records::XyChart, BarChart, records::GridChart, FindingsTable>;

struct FindingsSection {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<FindingsFigure> figures;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("paragraphs", self.paragraphs);
    fields("figures", self.figures);
  }

  friend bool operator==(const FindingsSection&, const FindingsSection&) = default;
};

struct Findings {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<FindingsSection> sections;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("paragraphs", self.paragraphs);
    fields("sections", self.sections);
  }

  friend bool operator==(const Findings&, const Findings&) = default;
};

}  // namespace zeus::research
