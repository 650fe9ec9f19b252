// A table for a person, as wide as its content needs: the first column is set left, the others right. One thread.
#pragma once

#include "base/ink.hpp"

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace zeus::cli {

struct Cell {
  // Most cells are plain, and made from their string alone.
  template <std::convertible_to<std::string> Text>
  Cell(Text&& shown, Ink its_ink = Ink::plain) : text{std::forward<Text>(shown)}, ink{its_ink} {}  // NOLINT

  std::string text;
  Ink ink;
};

class TextTable {
 public:
  TextTable(const std::vector<std::string>& heading, bool in_colour);

  // As many cells as the heading has.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::string shown(const Cell& cell) const;

  bool in_colour_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace zeus::cli
