// The values of a command line: words into numbers, quantities and strings. Pure functions. What is no such value, or
// outside its rule's bounds, is an invalid_argument Error that says what was expected; NaN and what is too large for
// its type always are.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace zeus::command_line {

void read_value(std::string_view text, const field::Rule& rule, int& value);
void read_value(std::string_view text, const field::Rule& rule, std::uint64_t& value);
// Infinite only where the rule says that this can be.
void read_value(std::string_view text, const field::Rule& rule, double& value);
void read_value(std::string_view text, const field::Rule& rule, Seconds& value);
void read_value(std::string_view text, const field::Rule& rule, Watts& value);
void read_value(std::string_view text, const field::Rule& rule, std::string& value);

}  // namespace zeus::command_line
