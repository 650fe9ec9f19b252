#include "tokens/claims.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace zeus::tokens {

bool has_expired(UnixSeconds expires, UnixSeconds now) {
  return now > std::numeric_limits<UnixSeconds>::min() + leeway && expires < now - leeway;
}

bool is_token_id(std::string_view id) {
  constexpr std::size_t most_bytes = 128;
  return !id.empty() && id.size() <= most_bytes && id.front() != '#' &&
         std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace zeus::tokens
