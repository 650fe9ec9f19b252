// Comma-separated values with a header line, read row by row, columns found by name. Errors name the file and the line.
// Quoted fields, CRLF line ends and a byte-order mark are understood; a line feed inside quotes is not. Views point
// into the text, which the caller keeps. One thread at a time.
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
  // `name` is what the text is called in errors. A text without a header line is a corrupt_data Error.
  CsvReader(std::string name, std::string_view text);

  // The place of a column; a corrupt_data Error when there is none of that name.
  [[nodiscard]] std::size_t column(std::string_view title) const;
  [[nodiscard]] bool has_column(std::string_view title) const;

  // Goes to the next row that is not blank; false after the last. A row with another number of fields than the header
  // is a corrupt_data Error.
  bool next();

  [[nodiscard]] std::string_view text(std::size_t column) const { return fields_[column]; }
  // A field that must not be empty.
  [[nodiscard]] std::string_view word(std::size_t column) const;
  // A finite number in [low, high].
  [[nodiscard]] double number(std::size_t column, double low, double high) const;
  // A whole number in [low, high]; one written as 12.0 is one too.
  [[nodiscard]] int integer(std::size_t column, int low, int high) const;

  [[nodiscard]] std::size_t line() const { return line_; }
  // "<name>:<line>: <what>", for the row being read.
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
