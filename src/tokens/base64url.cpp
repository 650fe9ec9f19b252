#include "tokens/base64url.hpp"

#include <cstddef>
#include <cstdint>

namespace zeus::tokens {

namespace {

constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned bits_per_character = 6;
constexpr unsigned bits_per_byte = 8;
constexpr std::uint32_t character_mask = 0x3F;

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char byte : bytes) {
    bits = (bits << bits_per_byte) | static_cast<unsigned char>(byte);
    for (held += bits_per_byte; held >= bits_per_character;) {
      held -= bits_per_character;
      text += characters[(bits >> held) & character_mask];
    }
    bits &= (1U << held) - 1;
  }
  if (held > 0) {
    text += characters[(bits << (bits_per_character - held)) & character_mask];
  }
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const std::size_t value = characters.find(c);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << bits_per_character) | static_cast<std::uint32_t>(value);
    held += bits_per_character;
    if (held >= bits_per_byte) {
      held -= bits_per_byte;
      bytes += static_cast<char>(bits >> held);
    }
    bits &= (1U << held) - 1;
  }
  // The bits that are left over fill the last character with zeros, and are less than a character.
  if (held >= bits_per_character || bits != 0) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace zeus::tokens
