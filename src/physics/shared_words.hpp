// Copies trivially copyable values while another thread or process may be writing them: word by word, in no particular
// order, each word atomically. The caller checks with its own counter whether the copy is consistent.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zeus::physics {

namespace detail {
using SharedWord __attribute__((may_alias)) = std::uint64_t;
}  // namespace detail

template <typename T>
concept SharedValue =
    std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0 && alignof(T) >= alignof(std::uint64_t);

template <SharedValue T>
T load_words(const T& shared) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled word by word below
  std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)> words;
  const auto* const from = reinterpret_cast<const detail::SharedWord*>(&shared);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  }
  return std::bit_cast<T>(words);
}

template <SharedValue T>
void store_words(T& shared, const T& value) {
  const auto words = std::bit_cast<std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>>(value);
  auto* const to = reinterpret_cast<detail::SharedWord*>(&shared);
  for (std::size_t i = 0; i < words.size(); ++i) {
    __atomic_store_n(to + i, words[i], __ATOMIC_RELAXED);
  }
}

}  // namespace zeus::physics
