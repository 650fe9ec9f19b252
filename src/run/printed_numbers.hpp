// The numbers of lines that a program has printed, gathered by what stands before them: "val_acc: 0.71" and
// "val_acc: 0.74" are one series. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::run {

struct NumberSeries {
  std::string opening;    // the first word of the line, where it is not the name
  std::string lead;       // the signs that the line begins with, where the name follows them: " * "
  std::string qualifier;  // the word before the name
  std::string name;       // the word before the number; none where it follows a sign or begins the line
  std::string between;    // what stands between the name, or the sign, and the number
  bool begins_line = false;
  bool whole = true;    // no number has a fraction
  bool of_all = false;  // "3/10": another whole number follows a slash
  std::vector<double> values;
  std::vector<std::size_t> lines;  // where they stand, ascending
  std::size_t column = 0;          // of the first
};

// In the order in which they were first printed.
std::vector<NumberSeries> number_series(std::span<const std::string> lines);

// The parts of a name in small letters: "val_Acc1" is "val" and "acc1".
std::vector<std::string> parts_of(std::string_view name);

}  // namespace zeus::run
