#include "report/plot.hpp"

#include "report/markup.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace zeus::report {

namespace {

// After Okabe and Ito, at a lightness that contrasts with white and with black.
constexpr std::array<std::string_view, 7> series_colors{"#8a8f98", "#1f7fd1", "#e0692a", "#1b9e77",
                                                        "#b5559e", "#c79a00", "#4cb3d9"};

constexpr double legend_letter = 7.2;  // the width of a letter in the legend, rounded up
constexpr double key_height = 18;

}  // namespace

std::string_view series_color(std::size_t index) {
  return series_colors[index % series_colors.size()];
}

std::string label_of(const records::ChartAxis& axis) {
  return axis.logarithmic ? axis.label + ", log scale" : axis.label;
}

Plot::Plot(const PlotBox& box, std::string_view title, std::string_view description)
    : box_{box}, title_{title}, description_{description} {
}

void Plot::x_axis(const Scale& scale, std::string_view label, int ticks) {
  for (const Tick& tick : scale.ticks(ticks)) {
    const double x = scale.at(tick.value);
    add(fmt::format(R"(<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>)", coordinate(x), coordinate(box_.top),
                    coordinate(bottom_edge())));
    text(x, bottom_edge() + 16, "middle", tick.label);
  }
  x_label(label);
}

void Plot::x_label(std::string_view label) {
  text((box_.left + right_edge()) / 2, box_.height - 8, "middle", label);
}

void Plot::y_axis(const Scale& scale, std::string_view label, int ticks) {
  for (const Tick& tick : scale.ticks(ticks)) {
    const double y = scale.at(tick.value);
    add(fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", coordinate(box_.left),
                    coordinate(right_edge()), coordinate(y)));
    text(box_.left - 6, y + 4, "end", tick.label);
  }
  add(fmt::format(
      R"svg(<text class="label" transform="translate(13 {}) rotate(-90)" text-anchor="middle">{}</text>)svg",
      coordinate((box_.top + bottom_edge()) / 2), escaped(label)));
}

void Plot::across(double y) {
  add(fmt::format(R"svg(<line x1="{}" x2="{}" y1="{}" y2="{}" stroke="var(--faint)" stroke-dasharray="4 3"/>)svg",
                  coordinate(box_.left), coordinate(right_edge()), coordinate(y), coordinate(y)));
}

void Plot::down(double x, std::string_view says) {
  add(fmt::format(
      R"svg(<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" stroke="{3}" stroke-width="1.5" stroke-dasharray="5 4"><title>{4}</title></line>)svg",
      coordinate(x), coordinate(box_.top), coordinate(bottom_edge()), mark_color, escaped(says)));
}

void Plot::text(double x, double y, std::string_view anchor, std::string_view text) {
  add(fmt::format(R"(<text class="label" x="{}" y="{}" text-anchor="{}">{}</text>)", coordinate(x), coordinate(y),
                  anchor, escaped(text)));
}

void Plot::legend(std::string_view color, std::string_view name) {
  keys_.push_back({std::string{color}, std::string{name}});
}

std::string Plot::take() && {
  std::string keys;
  double x = box_.left;
  double y = box_.height + 8;
  for (const Key& key : keys_) {
    const double width = 26 + legend_letter * static_cast<double>(key.name.size());
    if (x > box_.left && x + width > box_.width) {
      x = box_.left;
      y += key_height;
    }
    keys += fmt::format(R"svg(<rect x="{}" y="{}" width="11" height="11" rx="2" fill="{}"/>)svg", coordinate(x),
                        coordinate(y), key.color);
    keys += fmt::format(R"(<text class="label" x="{}" y="{}">{}</text>)", coordinate(x + 16), coordinate(y + 10),
                        escaped(key.name));
    x += width;
  }
  const double height = keys_.empty() ? box_.height : y + key_height;
  return fmt::format(
      R"svg(<svg viewBox="0 0 {} {}" role="img" aria-label="{}" style="width:100%;height:auto;max-width:520px"><text x="{}" y="18" font-weight="600">{}</text>{}{}</svg>)svg",
      coordinate(box_.width), coordinate(height), escaped(description_), coordinate(box_.left), escaped(title_), body_,
      keys);
}

}  // namespace zeus::report
