#include "base/wall_time_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace zeus {

std::string to_text(WallTime time) {
  constexpr std::int64_t per_second = 1'000'000;
  constexpr std::int64_t end_of_9999 = 253'402'300'799;
  const auto seconds =
      static_cast<std::time_t>(std::clamp(time.microseconds_since_epoch / per_second, std::int64_t{0}, end_of_9999));
  std::tm parts{};
  static_cast<void>(::gmtime_r(&seconds, &parts));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::optional<WallTime> wall_time_from_text(std::string_view text) {
  const std::string copy{text};
  std::tm parts{};
  // strptime also takes other forms; writing the result again finds them out.
  if (::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) {
    return std::nullopt;
  }
  const WallTime time{std::int64_t{::timegm(&parts)} * 1'000'000};
  return to_text(time) == text ? std::optional{time} : std::nullopt;
}

}  // namespace zeus
