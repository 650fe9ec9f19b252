// A value in shared memory that is read without a lock and never seen half-written, even if its writer is killed
// between two stores: the next value is written beside the present one, and then one number makes it valid. One writer
// at a time (the caller holds the RobustMutex that goes with it); any number of readers in any process. Lives in zeroed
// shared memory, where it holds T with all bits zero until the first write.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace zeus::drivers {

template <typename T>
class VersionedCell {
  static_assert(std::is_trivially_copyable_v<T>, "a value in shared memory has neither pointers nor owners");
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);

 public:
  // Grows with every write.
  [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

  // Copies the present value and returns its version.
  std::uint64_t read(T& value) const {
    Words words;
    while (true) {
      const std::uint64_t before = version();
      const Copy& copy = copies_[before & 1U];
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = copy[i].load(std::memory_order_relaxed);
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      if (version_.load(std::memory_order_relaxed) == before) {
        std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
        return before;
      }
    }
  }

  // The caller is the only writer. If the process is killed anywhere in here, either the old value or the new one is
  // left.
  void write(const T& value) {
    Words words;
    std::memcpy(words.data(), &value, sizeof(T));
    const std::uint64_t next = version_.load(std::memory_order_relaxed) + 1;
    // A reader that sees any part of this write must also see that the version it began with is gone.
    std::atomic_thread_fence(std::memory_order_release);
    Copy& copy = copies_[next & 1U];
    for (std::size_t i = 0; i < words.size(); ++i) {
      copy[i].store(words[i], std::memory_order_relaxed);
    }
    version_.store(next, std::memory_order_release);
  }

 private:
  static constexpr std::size_t word_count = sizeof(T) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, word_count>;
  using Copy = std::array<std::atomic<std::uint64_t>, word_count>;

  std::atomic<std::uint64_t> version_;
  std::array<Copy, 2> copies_;
};

}  // namespace zeus::drivers
