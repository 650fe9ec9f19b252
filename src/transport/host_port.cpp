#include "transport/host_port.hpp"

#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace zeus::transport {

namespace {

constexpr unsigned long most_port = 65535;

}  // namespace

HostPort split_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    host = {};
  }
  const bool is_number = !port.empty() && port.size() <= 5 &&
                         std::ranges::all_of(port, [](char letter) { return letter >= '0' && letter <= '9'; });
  if (host.empty() || !is_number || std::stoul(std::string{port}) > most_port) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not an address", in_quotes(text)),
                "give host and port, as 127.0.0.1:4938 or [::1]:4938"};
  }
  return {std::string{host}, std::string{port}};
}

}  // namespace zeus::transport
