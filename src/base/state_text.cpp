#include "base/state_text.hpp"

#include <algorithm>

#include <charconv>
#include <system_error>

namespace zeus {

namespace {

constexpr int hexadecimal = 16;
constexpr char separator = ' ';

}  // namespace

void StateWriter::add_word(std::uint64_t word) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), word, hexadecimal).ptr;
  text_.append(digits.data(), end);
  text_.push_back(separator);
}

void StateWriter::add(const std::string& text) {
  add_word(text.size());
  text_.append(text);
}

void StateReader::refuse() {
  throw Error{ErrorKind::corrupt_data, "this is not the stored state of such an object"};
}

std::uint64_t StateReader::take_word() {
  std::uint64_t word = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), word, hexadecimal);
  if (error != std::errc{} || end == rest_.data() + rest_.size() || *end != separator) {
    refuse();
  }
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()) + 1);
  return word;
}

void StateReader::take(std::string& text) {
  const std::uint64_t size = take_word();
  if (size > rest_.size()) {
    refuse();
  }
  text = rest_.substr(0, size);
  rest_.remove_prefix(size);
}

namespace {

// FNV-1a of 64 bits, in hexadecimal digits.
std::string digest(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char byte : text) {
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, sum >>= 4U) {
    *digit = "0123456789abcdef"[sum & 0xfU];
  }
  return digits;
}

}  // namespace

std::string sealed(std::string_view text) {
  return digest(text).append(text);
}

std::string_view unsealed(std::string_view text) {
  constexpr std::size_t size = 16;
  const std::string_view content = text.substr(std::min(size, text.size()));
  if (text.substr(0, size) != digest(content)) {
    throw Error{ErrorKind::corrupt_data, "this is not a state as it was saved"};
  }
  return content;
}

}  // namespace zeus
