// The numbers in a program's printed lines, gathered by the text before them: "val_acc: 0.71" and "val_acc: 0.74" are
// one series. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::run {

struct NumberSeries {
  std::string opening;    // the line's first word, unless that is the name
  std::string lead;       // signs at the beginning of the line, before the name: " * "
  std::string qualifier;  // the word before the name
  std::string name;       // the word before the number; empty if a sign or nothing is there
  std::string between;    // the text between the name, or the sign, and the number
  bool begins_line = false;
  bool whole = true;    // no number has a fraction
  bool of_all = false;  // "3/10": a slash and another whole number follow
  std::vector<double> values;
  std::vector<std::size_t> lines;  // where the numbers are, ascending
  std::size_t column = 0;          // of the first number
};

// In the order in which they were first printed.
std::vector<NumberSeries> number_series(std::span<const std::string> lines);

// The parts of a name in lower case: "val_Acc1" is "val" and "acc1".
std::vector<std::string> parts_of(std::string_view name);

}  // namespace zeus::run
