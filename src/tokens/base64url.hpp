// Bytes as a string of 64 characters that a URL may hold, without padding (RFC 4648, 5). Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zeus::tokens {

std::string to_base64url(std::string_view bytes);
// Empty for anything that to_base64url() does not make.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace zeus::tokens
