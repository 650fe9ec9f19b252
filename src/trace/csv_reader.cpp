#include "trace/csv_reader.hpp"

#include "trace/bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace zeus::trace {

namespace {

constexpr std::size_t most_columns = 256;
constexpr std::size_t longest_header_quote = 300;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

CsvReader::CsvReader(std::string name, std::string_view text) : name_{std::move(name)}, rest_{text} {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (rest_.starts_with(byte_order_mark)) {
    rest_.remove_prefix(byte_order_mark.size());
  }
  if (rest_.starts_with("\xFF\xFE") || rest_.starts_with("\xFE\xFF")) {
    ++line_;
    throw error("this is UTF-16", "save the file as UTF-8");
  }
  const std::string_view header = take_line();
  if (std::ranges::any_of(header, [](char c) { return c >= '\0' && c < ' ' && c != '\t'; })) {
    throw error("this is not plain text", "check that this is the right file");
  }
  split(header);
  titles_.assign(fields_.begin(), fields_.end());
  if (titles_.empty() || std::ranges::all_of(titles_, &std::string::empty)) {
    throw error("the header line is missing", "begin the file with a line that names its columns");
  }
}

std::string_view CsvReader::take_line() {
  const std::size_t end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  ++line_;
  return trimmed(line);
}

void CsvReader::split(std::string_view line) {
  fields_.clear();
  while (true) {
    if (fields_.size() == most_columns) {
      throw error(fmt::format("there are more than {} columns", most_columns), "check that this is the right file");
    }
    if (line.starts_with('"')) {
      const std::size_t end = line.find('"', 1);
      const std::string_view after = end == std::string_view::npos ? line : trimmed(line.substr(end + 1));
      if (end == std::string_view::npos || !(after.empty() || after.starts_with(','))) {
        throw error("a quoted field does not end in a quote and a comma", "close the quote");
      }
      fields_.push_back(trimmed(line.substr(1, end - 1)));
      if (after.empty()) {
        return;
      }
      line = trimmed(after.substr(1));
      continue;
    }
    const std::size_t comma = line.find(',');
    fields_.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return;
    }
    line = line.substr(comma + 1);
    if (line.starts_with(' ')) {
      line = trimmed(line);
    }
  }
}

std::size_t CsvReader::column(std::string_view title) const {
  const auto place = std::ranges::find(titles_, title);
  if (place == titles_.end()) {
    throw Error{
        ErrorKind::corrupt_data, fmt::format("{}:1: column '{}' is missing", name_, title),
        fmt::format("the columns are {}", fmt::format("{}", fmt::join(titles_, ",")).substr(0, longest_header_quote))};
  }
  if (std::ranges::count(titles_, title) > 1) {
    throw Error{ErrorKind::corrupt_data, fmt::format("{}:1: column '{}' appears twice", name_, title),
                "keep one of them"};
  }
  return static_cast<std::size_t>(place - titles_.begin());
}

bool CsvReader::has_column(std::string_view title) const {
  return std::ranges::find(titles_, title) != titles_.end();
}

bool CsvReader::next() {
  while (!rest_.empty()) {
    const std::string_view line = take_line();
    if (line.empty()) {
      continue;
    }
    split(line);
    if (fields_.size() != titles_.size()) {
      throw error(fmt::format("the row has {} fields, but the header has {}", fields_.size(), titles_.size()));
    }
    return true;
  }
  return false;
}

std::string_view CsvReader::word(std::size_t column) const {
  if (fields_[column].empty()) {
    throw error(fmt::format("{} is empty", titles_[column]));
  }
  return fields_[column];
}

double CsvReader::number(std::size_t column, double low, double high) const {
  const std::string_view text = fields_[column];
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw error(fmt::format("{} is '{}', not a finite number", titles_[column], text.substr(0, longest_quote)));
  }
  if (value < low || value > high) {
    throw error(
        fmt::format("{} is {}, but must be from {} to {}", titles_[column], text.substr(0, longest_quote), low, high));
  }
  return value;
}

int CsvReader::integer(std::size_t column, int low, int high) const {
  const double value = number(column, low, high);
  if (value != std::floor(value)) {
    throw error(fmt::format("{} is {}, not a whole number", titles_[column], fields_[column].substr(0, longest_quote)));
  }
  return static_cast<int>(value);
}

Error CsvReader::error(const std::string& what, const std::string& advice) const {
  return Error{ErrorKind::corrupt_data, fmt::format("{}:{}: {}", name_, line_, what), advice};
}

}  // namespace zeus::trace
