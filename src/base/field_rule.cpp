#include "base/field_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace zeus {

bool is_within(double number, const field::Rule& rule) {
  return (rule.above_least ? number > rule.least : number >= rule.least) && number <= rule.most;
}

std::string bounds_in_words(std::string_view what, const field::Rule& rule, double least, double most) {
  std::string words{what};
  if (rule.least > least) {
    words += fmt::format(" {} {}", rule.above_least ? "above" : "from", rule.least);
  } else if (std::numeric_limits<double>::lowest() < least) {
    words += fmt::format(" from {}", least);
  }
  if (std::min(rule.most, most) < std::numeric_limits<double>::max()) {
    words += fmt::format(" to {}", std::min(rule.most, most));
  }
  return words;
}

}  // namespace zeus
