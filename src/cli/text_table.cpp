#include "cli/text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace zeus::cli {

namespace {

// How many columns a string takes on a terminal: one for each character, however many bytes it has in UTF-8.
std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

}  // namespace

TextTable::TextTable(const std::vector<std::string>& heading, bool in_colour) : in_colour_{in_colour} {
  std::vector<Cell>& row = rows_.emplace_back();
  for (const std::string& title : heading) {
    row.emplace_back(title, Ink::bold);
  }
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const std::vector<Cell>& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], text_width(row[column].text));
    }
  }
  std::string text;
  for (const std::vector<Cell>& row : rows_) {
    std::string line = "  " + shown(row[0]) + std::string(widths[0] - text_width(row[0].text), ' ');
    for (std::size_t column = 1; column < row.size(); ++column) {
      line += "  " + std::string(widths[column] - text_width(row[column].text), ' ') + shown(row[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string TextTable::shown(const Cell& cell) const {
  return inked(cell.text, cell.text.empty() ? Ink::plain : cell.ink, in_colour_);
}

}  // namespace zeus::cli
