// Comma-separated values with a header line, read row by row, with columns found by name. Errors name the file and the
// line. Understands quoted fields, CRLF line ends and a byte-order mark, but no line feed inside quotes. Views point
// into the string, which the caller keeps. One thread at a time.
#pragma once

#include <zeus/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::trace {

class CsvReader {
 public:
  // `name` is what errors call the file. A string without a header line is a corrupt_data Error.
  CsvReader(std::string name, std::string_view text);

  // The index of a column; a corrupt_data Error if no column has that title.
  [[nodiscard]] std::size_t column(std::string_view title) const;
  [[nodiscard]] bool has_column(std::string_view title) const;

  // Goes to the next row that is not blank; false after the last. A corrupt_data Error if the row and the header differ
  // in their number of fields.
  bool next();

  [[nodiscard]] std::string_view text(std::size_t column) const { return fields_[column]; }
  // A field that must not be empty.
  [[nodiscard]] std::string_view word(std::size_t column) const;
  // A finite number in [low, high].
  [[nodiscard]] double number(std::size_t column, double low, double high) const;
  // A whole number in [low, high]; 12.0 counts as one.
  [[nodiscard]] int integer(std::size_t column, int low, int high) const;

  [[nodiscard]] std::size_t line() const { return line_; }
  // "<name>:<line>: <what>", for the current row.
  [[nodiscard]] Error error(const std::string& what, const std::string& advice = "correct the row") const;

 private:
  std::string_view take_line();
  void split(std::string_view line);

  std::string name_;
  std::string_view rest_;
  std::vector<std::string> titles_;
  std::vector<std::string_view> fields_;
  std::size_t line_ = 0;
};

}  // namespace zeus::trace
