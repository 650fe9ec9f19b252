#include "server/call.hpp"

#include <charconv>

namespace zeus::server {

std::optional<std::string> Call::find(std::string_view name) const {
  const auto known = texts_.find(std::string{name});
  return known == texts_.end() ? std::nullopt : std::optional{known->second};
}

std::optional<std::uint64_t> Call::find_number(std::string_view name) const {
  const std::optional<std::string> text = find(name);
  std::uint64_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc{}) {
    return std::nullopt;
  }
  return number;
}

std::uint64_t Call::number(std::string_view name) const {
  return find_number(name).value();
}

}  // namespace zeus::server
