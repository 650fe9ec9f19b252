#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace zeus {

namespace {

constexpr std::size_t most_quoted = 80;

unsigned char byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// The number of bytes of the character at the front; nothing if it is not UTF-8, or is a control character.
std::optional<std::size_t> printable_character(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x80U) {
    return lead >= 0x20U && lead != 0x7FU ? std::optional<std::size_t>{1} : std::nullopt;
  }
  std::size_t length = 0;
  if (lead >= 0xC2U && lead <= 0xDFU) {
    length = 2;
  } else if (lead >= 0xE0U && lead <= 0xEFU) {
    length = 3;
  } else if (lead >= 0xF0U && lead <= 0xF4U) {
    length = 4;
  }
  if (length == 0 || text.size() < length) {
    return std::nullopt;
  }
  char32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(byte_at(text, i))) {
      return std::nullopt;
    }
    point = (point << 6U) | (byte_at(text, i) & 0x3FU);
  }
  const bool overlong = point < (length == 3 ? 0x800U : length == 4 ? 0x10000U : 0U);
  const bool surrogate = point >= 0xD800U && point <= 0xDFFFU;
  // Marks that end a line, or change the direction in which what follows is written.
  const bool control = point < 0xA0U || point == 0x061CU || point == 0x200EU || point == 0x200FU ||
                       (point >= 0x2028U && point <= 0x202EU) || (point >= 0x2066U && point <= 0x2069U);
  if (overlong || surrogate || control || point > 0x10FFFFU) {
    return std::nullopt;
  }
  return length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (const auto length = printable_character(text)) {
      result += text.substr(0, *length);
      text.remove_prefix(*length);
      continue;
    }
    switch (text.front()) {
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      default:
        result += fmt::format("\\x{:02x}", byte_at(text, 0));
    }
    text.remove_prefix(1);
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view gap = " ... ";
  if (text.size() <= most) {
    return std::string{text};
  }
  const std::size_t room = most - std::min(most, gap.size());
  std::size_t front = room - room / 4;
  while (front > 0 && is_continuation(byte_at(text, front))) {
    --front;
  }
  std::size_t back = text.size() - room / 4;
  while (back < text.size() && is_continuation(byte_at(text, back))) {
    ++back;
  }
  return fmt::format("{}{}{}", text.substr(0, front), gap, text.substr(back));
}

std::string in_quotes(std::string_view text) {
  // What is cut away need not be escaped.
  return fmt::format("'{}'", shortened(printable(shortened(text, 4 * most_quoted)), most_quoted));
}

}  // namespace zeus
