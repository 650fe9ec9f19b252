// Tables for a person, fitted to a terminal. Pure functions and plain values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::cli {

// What a terminal can hold, in characters.
struct Screen {
  int columns = 80;
  int rows = 24;
  bool colour = true;
  bool bars = true;
  bool keys = false;          // somebody can scroll, and is told so
  std::size_t first_row = 0;  // what a table begins with where there is no place for all of it
};

// Enough for whatever there is.
inline constexpr int all_rows = 100'000;

enum class Side { left, right };

// One column of a table: what is written, and how soon it is missed (0: never left out).
struct Column {
  std::string title;
  int width = 0;
  Side side = Side::right;
  int missed = 0;
  bool drawn = false;  // has its width already, in characters of several bytes
  std::vector<std::string> cells{};
  std::vector<std::string> sums{};  // below all of them
};

std::string clipped(const std::string& text, int width);

// The last column is as wide as there is place, or as it needs to be; columns that do not fit are left out.
void fit(std::vector<Column>& columns, const std::optional<Screen>& screen);

// How many of `cells` rows there is place for, where sums and the count of what is left out are rows too.
std::size_t shown_rows(std::size_t cells, std::size_t most_rows, std::size_t sums);

// A picture, line by line.
struct Lines {
  std::vector<std::string> all{};
  bool bold = false;
  int columns_of_screen = 0;

  void add_title(const std::string& text);
  // In as many rows as it may take, from `first` on; what does not fit is counted.
  void add_table(const std::vector<Column>& columns, std::size_t most_rows, std::string_view kind,
                 std::size_t first = 0);
  // All of it, or as many lines as there is place for.
  [[nodiscard]] std::string text(std::size_t most_rows) const;
};

}  // namespace zeus::cli
