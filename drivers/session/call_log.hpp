// The latest calls of every process into the virtual drivers of a session: a ring in shared memory. Any thread of any
// process may add at any time, without a lock. If a process is killed while it adds, readers skip that one entry. Lives
// in zeroed shared memory.
#pragma once

#include "base/clock.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::drivers {

struct CallRecord {
  std::uint64_t number = 0;  // counted over all processes
  Instant at;
  std::int32_t process = 0;
  std::int32_t gpu = -1;  // -1: no particular GPU
  std::int32_t result = 0;
  std::string entry_point;
};

class CallLog {
 public:
  static constexpr std::uint64_t capacity = 4096;

  void add(std::string_view entry_point, Instant at, std::int32_t process, std::int32_t gpu, std::int32_t result);
  // All calls since the session began, including those that the ring has dropped.
  [[nodiscard]] std::uint64_t count() const { return next_.load(std::memory_order_relaxed); }
  // The calls from `first` on that the ring still holds, oldest first.
  [[nodiscard]] std::vector<CallRecord> since(std::uint64_t first) const;

 private:
  static constexpr std::size_t name_words = 8;

  struct Slot {
    // 0 while it is being written, else the number of the call, counted from 1.
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::int64_t> at_ns;
    std::atomic<std::uint64_t> process_and_gpu;
    std::atomic<std::int64_t> result;
    std::array<std::atomic<std::uint64_t>, name_words> name;
  };

  std::atomic<std::uint64_t> next_;
  std::array<Slot, capacity> slots_;
};

}  // namespace zeus::drivers
