#include "cli/text_columns.hpp"

#include "base/ink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace zeus::cli {

namespace {

std::string padded(const std::string& text, int width, Side side) {
  const std::string fitting = clipped(text, width);
  return side == Side::left ? fmt::format("{:<{}}", fitting, width) : fmt::format("{:>{}}", fitting, width);
}

int table_width(const std::vector<Column>& columns) {
  return std::accumulate(columns.begin(), columns.end(), -2,
                         [](int sum, const Column& column) { return sum + column.width + 2; });
}

std::string line_of(const std::vector<Column>& columns, const auto& text_of) {
  std::string line;
  for (const Column& column : columns) {
    const std::string text = text_of(column);
    line += line.empty() ? "" : "  ";
    line += column.drawn && !text.empty() ? text : padded(text, column.width, column.side);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string clipped(const std::string& text, int width) {
  return text.substr(0, static_cast<std::size_t>(std::max(0, width)));
}

void fit(std::vector<Column>& columns, const std::optional<Screen>& screen) {
  if (!screen) {
    columns.back().width = 0;
    for (const std::string& text : columns.back().cells) {
      columns.back().width = std::max(
          {columns.back().width, static_cast<int>(text.size()), static_cast<int>(columns.back().title.size())});
    }
    return;
  }
  while (table_width(columns) > screen->columns) {
    const auto least = std::ranges::max_element(columns, {}, &Column::missed);
    if (least->missed == 0) {
      return;
    }
    columns.erase(least);
  }
  if (columns.back().side == Side::left && !columns.back().drawn) {
    columns.back().width += screen->columns - table_width(columns);
  }
}

std::size_t shown_rows(std::size_t cells, std::size_t most_rows, std::size_t sums) {
  const std::size_t place = std::max<std::size_t>(most_rows, sums + 2) - sums;
  return cells <= place ? cells : place - 1;
}

void Lines::add_title(const std::string& text) {
  all.push_back(inked(text, Ink::bold, bold));
}

void Lines::add_table(const std::vector<Column>& columns, std::size_t most_rows, std::string_view kind,
                      std::size_t first) {
  add_title(line_of(columns, [](const Column& column) { return column.title; }));
  const std::size_t cells = columns.front().cells.size();
  const std::size_t sums = columns.front().sums.size();
  const std::size_t shown = shown_rows(cells, most_rows, sums);
  first = std::min(first, cells - shown);
  for (std::size_t row = first; row < first + shown; ++row) {
    all.push_back(line_of(columns, [row](const Column& column) { return column.cells[row]; }));
  }
  if (shown < cells) {
    const std::size_t below = cells - shown - first;
    const std::string count = first == 0   ? fmt::format("    ... and {} more {}", below, kind)
                              : below == 0 ? fmt::format("    ... and {} more {} above", first, kind)
                                           : fmt::format("    ... and {} more above, {} below", first, below);
    all.push_back(clipped(count, columns_of_screen));
  }
  for (std::size_t row = 0; row < sums; ++row) {
    add_title(
        line_of(columns, [row](const Column& column) { return row < column.sums.size() ? column.sums[row] : ""; }));
  }
}

std::string Lines::text(std::size_t most_rows) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most_rows); ++i) {
    text += all[i] + '\n';
  }
  return text;
}

}  // namespace zeus::cli
