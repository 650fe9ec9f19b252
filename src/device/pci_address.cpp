#include "device/pci_address.hpp"

#include <fmt/format.h>

#include <charconv>

namespace zeus::device {

namespace {

// Whether all of `text` is a hexadecimal number of at most `digits` digits, which then becomes `number`.
bool read_hexadecimal(std::string_view text, std::size_t digits, std::uint32_t& number) {
  if (text.empty() || text.size() > digits) {
    return false;
  }
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number, 16);
  return failure == std::errc{} && rest == end;
}

}  // namespace

std::string to_string(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device, address.function);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  PciAddress address;
  if (const std::size_t dot = text.rfind('.'); dot != std::string_view::npos) {
    if (!read_hexadecimal(text.substr(dot + 1), 1, address.function) || address.function > 7) {
      return std::nullopt;
    }
    text = text.substr(0, dot);
  }
  const std::size_t last = text.rfind(':');
  if (last == std::string_view::npos || !read_hexadecimal(text.substr(last + 1), 2, address.device) ||
      address.device > 31) {
    return std::nullopt;
  }
  text = text.substr(0, last);
  if (const std::size_t first = text.find(':'); first != std::string_view::npos) {
    if (!read_hexadecimal(text.substr(0, first), 8, address.domain)) {
      return std::nullopt;
    }
    text = text.substr(first + 1);
  }
  if (!read_hexadecimal(text, 2, address.bus)) {
    return std::nullopt;
  }
  return address;
}

}  // namespace zeus::device
