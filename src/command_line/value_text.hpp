// Turns the words of a command line into numbers, quantities and strings. Pure functions. They throw an
// invalid_argument Error that says what was expected if a word is not such a value or is outside its rule's bounds, and
// always for NaN and for numbers too large for their type.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace zeus::command_line {

void read_value(std::string_view text, const field::Rule& rule, int& value);
void read_value(std::string_view text, const field::Rule& rule, std::uint64_t& value);
// Infinity is accepted only if the rule allows it.
void read_value(std::string_view text, const field::Rule& rule, double& value);
void read_value(std::string_view text, const field::Rule& rule, Seconds& value);
void read_value(std::string_view text, const field::Rule& rule, Watts& value);
void read_value(std::string_view text, const field::Rule& rule, std::string& value);

}  // namespace zeus::command_line
