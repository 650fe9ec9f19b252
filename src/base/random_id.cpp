#include "base/random_id.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/random.h>

#include <array>

namespace zeus {

std::string random_id() {
  constexpr std::size_t bytes = 16;
  std::array<unsigned char, bytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw Error{ErrorKind::unavailable, "the kernel gives no random numbers"};
  }
  return fmt::format("{:02x}", fmt::join(random, ""));
}

}  // namespace zeus
