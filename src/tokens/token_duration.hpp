// The lifetime of a token, as people write it: "90s", "1h 30m", "2weeks"; "never". A pure function; any thread.
#pragma once

#include "tokens/claims.hpp"

#include <optional>
#include <string_view>

namespace zeus::tokens {

// In whole seconds; empty for a token that never expires. Throws an invalid_argument Error that says what is wrong.
// Capital letters count as small ones; a month is 30.44 days and a year 365.25.
std::optional<UnixSeconds> parse_token_duration(std::string_view text);

}  // namespace zeus::tokens
