#include "base/state_text.hpp"

#include <charconv>
#include <system_error>

namespace zeus {

namespace {

constexpr int base = 16;
constexpr char separator = ' ';

}  // namespace

void StateWriter::add_word(std::uint64_t word) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), word, base).ptr;
  text_.append(digits.data(), end);
  text_.push_back(separator);
}

void StateWriter::add(const std::string& text) {
  add_word(text.size());
  text_.append(text);
}

void StateReader::refuse() {
  throw Error{ErrorKind::corrupt_data, "this is not the state of such an object"};
}

std::uint64_t StateReader::take_word() {
  std::uint64_t word = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), word, base);
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

}  // namespace zeus
