#include "transport/same_site.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace zeus::transport {

namespace {

std::string small_letters(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

}  // namespace

std::optional<std::string_view> why_foreign(const Headers& headers) {
  if (const auto site = headers.get("sec-fetch-site"); site && *site != "same-origin" && *site != "none") {
    return "its browser says so";
  }
  const std::optional<std::string_view> host = headers.get("host");
  if (const auto origin = headers.get("origin")) {
    const std::string from = small_letters(*origin);
    if (!host || (from != "http://" + small_letters(*host) && from != "https://" + small_letters(*host))) {
      return "its origin is not this server";
    }
  }
  return std::nullopt;
}

std::string host_name(std::string_view host) {
  const std::size_t from = host.starts_with('[') ? host.find(']') : 0;
  const std::size_t colon = from == std::string_view::npos ? from : host.find(':', from);
  return small_letters(host.substr(0, colon));
}

bool is_ip_address(std::string_view name) {
  return name.starts_with('[') ||
         (!name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; }));
}

bool is_loopback_name(std::string_view host) {
  const std::string name = host_name(host);
  return name == "localhost" || name == "[::1]" || (is_ip_address(name) && name.starts_with("127."));
}

}  // namespace zeus::transport
