#include "tokens/claims.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <sys/random.h>

#include <algorithm>
#include <array>
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

std::string random_id() {
  constexpr std::size_t bytes = 16;
  std::array<unsigned char, bytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw Error{ErrorKind::unavailable, "the kernel gives no random numbers"};
  }
  return fmt::format("{:02x}", fmt::join(random, ""));
}

}  // namespace zeus::tokens
