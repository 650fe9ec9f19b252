// Tables for a person, fitted to a terminal. Pure functions and plain values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::cli {

// The size of a terminal, in characters.
struct Screen {
  int columns = 80;
  int rows = 24;
  bool colour = true;
  bool bars = true;
  bool keys = false;          // the user can scroll, and the table says so
  std::size_t first_row = 0;  // the first to show if not all fit
};

// More rows than any table has.
inline constexpr int all_rows = 100'000;

// Of energies in a table that is drawn again: more than elsewhere, so that the energy is seen to move.
inline constexpr int live_energy_digits = 4;

enum class Side { left, right };

// One column of a table: its content, and how soon it is left out (0: never).
struct Column {
  std::string title;
  int width = 0;
  Side side = Side::right;
  int missed = 0;
  bool drawn = false;  // padded already, with characters of several bytes
  std::vector<std::string> cells{};
  std::vector<std::string> sums{};  // below all of them
};

std::string clipped(const std::string& text, int width);

// The last column gets the width that is left, or that it needs; columns that do not fit are left out.
void fit(std::vector<Column>& columns, const std::optional<Screen>& screen);

// How many of `cells` rows fit. Sums and the line that counts hidden rows take rows, too.
std::size_t shown_rows(std::size_t cells, std::size_t most_rows, std::size_t sums);

// A picture, line by line.
struct Lines {
  std::vector<std::string> all{};
  bool bold = false;
  int columns_of_screen = 0;

  void add_title(const std::string& text);
  // Adds rows from `first` on, in at most `most_rows`; a line counts the rows that do not fit.
  void add_table(const std::vector<Column>& columns, std::size_t most_rows, std::string_view kind,
                 std::size_t first = 0);
  // All lines, or as many as fit.
  [[nodiscard]] std::string text(std::size_t most_rows) const;
};

}  // namespace zeus::cli
