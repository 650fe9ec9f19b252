// Detects requests that a page of another site makes its reader's browser send to a service, by what browsers say in
// their headers. Pure functions; any thread.
#pragma once

#include "transport/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace zeus::transport {

// Why the request comes from such a page; nothing if its headers do not say so.
std::optional<std::string_view> why_foreign(const Headers& headers);

// The host of "HOST:PORT", in small letters; an IPv6 address keeps its brackets.
std::string host_name(std::string_view host);
// "192.0.2.1", "[::1]"
bool is_ip_address(std::string_view name);
// "127.0.0.1", "localhost", "[::1]:8470". A page of another site may have its own name resolve to this machine; it
// never has one of these.
bool is_loopback_name(std::string_view host);

}  // namespace zeus::transport
