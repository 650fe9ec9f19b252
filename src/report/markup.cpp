#include "report/markup.hpp"

#include <fmt/format.h>

#include <cmath>

namespace zeus::report {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string readable(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e7 || size < 1e-3)) {
    return fmt::format("{:.3g}", value);
  }
  if (size >= 1000) {
    return fmt::format("{:.0f}", value);
  }
  if (size >= 100) {
    return fmt::format("{:.1f}", value);
  }
  return size >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.3f}", value);
}

}  // namespace zeus::report
