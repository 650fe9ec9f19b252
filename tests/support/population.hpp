// How many members of a population a test draws: all of them, and an eighth under a sanitizer, which is there for
// mistakes that each member would show and takes ten times as long. For tests that judge each member, not for those
// that count.
#pragma once

namespace zeus::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

template <typename Number>
constexpr Number drawn(Number all) {
  return sanitized ? (all + 7) / 8 : all;
}

}  // namespace zeus::test
