// The results of a study, as figures and tables with text around them, ready to be shown. The code that computes them
// and the code that draws them know nothing of each other. Plain values; copy them freely between threads.
#pragma once

#include "records/charts.hpp"

#include <zeus/fields.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::records {

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
  ChartAxis y;
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

// The values behind a figure, one for each seed; not drawn, for scripts that work out the page's numbers again.
struct FindingsSamples {
  static constexpr std::string_view kind = "samples";
  std::string key;  // the only ones of the page with this key
  std::vector<std::string> groups;
  std::vector<std::vector<double>> values;  // by group, then by seed

  void add(std::string group, std::vector<double> of_seeds) {
    groups.push_back(std::move(group));
    values.push_back(std::move(of_seeds));
  }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("key", self.key);
    fields("groups", self.groups);
    fields("values", self.values);
  }

  friend bool operator==(const FindingsSamples&, const FindingsSamples&) = default;
};

using FindingsFigure = std::variant<XyChart, BarChart, GridChart, FindingsTable, FindingsSamples>;

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

enum class Verdict { agrees, differs, too_uncertain, not_repeated };

constexpr auto names_of(Verdict /*verdict*/) {
  return std::array<field::Name<Verdict>, 4>{{{Verdict::agrees, "agrees"},
                                              {Verdict::differs, "differs"},
                                              {Verdict::too_uncertain, "too uncertain to say"},
                                              {Verdict::not_repeated, "not repeated"}}};
}

// A claim of the paper beside what was found here.
struct ScorecardRow {
  std::string key;
  std::string where;  // in the paper
  std::string claim;
  std::string paper;  // what it states
  std::string here;
  std::optional<double> value;  // the number in `here`, and the range of one more repetition
  std::optional<double> low;
  std::optional<double> high;
  Verdict verdict = Verdict::not_repeated;
  std::string reason;  // the criterion of the verdict, why it differs, or what is missing

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("key", self.key);
    fields("where", self.where);
    fields("claim", self.claim);
    fields("paper", self.paper);
    fields("here", self.here);
    fields("value", self.value);
    fields("low", self.low);
    fields("high", self.high);
    fields("verdict", self.verdict);
    fields("reason", self.reason);
  }

  friend bool operator==(const ScorecardRow&, const ScorecardRow&) = default;
};

struct Findings {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<ScorecardRow> scorecard;  // may be empty
  std::vector<FindingsSection> sections;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("title", self.title);
    fields("paragraphs", self.paragraphs);
    fields("scorecard", self.scorecard);
    fields("sections", self.sections);
  }

  friend bool operator==(const Findings&, const Findings&) = default;
};

}  // namespace zeus::records
