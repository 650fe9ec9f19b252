// The frame of one small chart, as SVG: a title, two scales with grid lines, ticks and labels, and a legend below.
// Charts draw into it. One thread; draw first, then take() the result.
#pragma once

#include "records/charts.hpp"
#include "report/scale.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zeus::report {

// The colour of series number `index`: distinguishable without red and green, on light and dark backgrounds.
std::string_view series_color(std::size_t index);

// The colour of marks, which no series has.
inline constexpr std::string_view mark_color = "var(--ink)";

// The label of an axis; a logarithmic one says so.
std::string label_of(const records::ChartAxis& axis);

struct PlotBox {
  double width = 400;
  double height = 300;  // of the whole drawing, without the legend
  double left = 62;
  double right = 12;
  double top = 30;
  double bottom = 46;
};

class Plot {
 public:
  // `description` tells screen readers what the chart shows.
  Plot(const PlotBox& box, std::string_view title, std::string_view description);

  [[nodiscard]] const PlotBox& box() const { return box_; }
  [[nodiscard]] double bottom_edge() const { return box_.height - box_.bottom; }
  [[nodiscard]] double right_edge() const { return box_.width - box_.right; }

  void x_axis(const Scale& scale, std::string_view label, int ticks);
  void x_label(std::string_view label);
  void y_axis(const Scale& scale, std::string_view label, int ticks);
  void across(double y);                       // a dashed line over the whole width
  void down(double x, std::string_view says);  // a dashed line over the whole height, in the colour of marks
  void text(double x, double y, std::string_view anchor, std::string_view text);
  void add(std::string_view svg) { body_ += svg; }
  // A square of the colour, and a name.
  void legend(std::string_view color, std::string_view name);

  // The whole figure as markup.
  [[nodiscard]] std::string take() &&;

 private:
  struct Key {
    std::string color;
    std::string name;
  };

  PlotBox box_;
  std::string title_;
  std::string description_;
  std::string body_;
  std::vector<Key> keys_;
};

}  // namespace zeus::report
