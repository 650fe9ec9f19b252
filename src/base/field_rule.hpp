// What a rule of a field (zeus/fields.hpp) means for a number, for all code that reads records. Pure functions; any
// thread.
#pragma once

#include <zeus/fields.hpp>

#include <string>
#include <string_view>

namespace zeus {

bool is_within(double number, const field::Rule& rule);

// "a number above 0", "a whole number from 0 to 255": `what`, and the rule's bounds narrowed to those of a type.
std::string bounds_in_words(std::string_view what, const field::Rule& rule, double least, double most);

}  // namespace zeus
