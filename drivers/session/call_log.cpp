#include "drivers/session/call_log.hpp"

#include <algorithm>
#include <cstring>

namespace zeus::drivers {

void CallLog::add(std::string_view entry_point, Instant at, std::int32_t process, std::int32_t gpu,
                  std::int32_t result) {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  Slot& slot = slots_[number % capacity];
  slot.sequence.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  slot.at_ns.store(at.nanoseconds, std::memory_order_relaxed);
  slot.process_and_gpu.store(
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(process)) << 32U | static_cast<std::uint32_t>(gpu),
      std::memory_order_relaxed);
  slot.result.store(result, std::memory_order_relaxed);
  std::array<std::uint64_t, name_words> name{};
  std::memcpy(name.data(), entry_point.data(), std::min(entry_point.size(), sizeof(name) - 1));
  const std::size_t used = std::min(entry_point.size() / sizeof(std::uint64_t) + 1, name_words);
  for (std::size_t i = 0; i < used; ++i) {
    slot.name[i].store(name[i], std::memory_order_relaxed);
  }
  slot.sequence.store(number + 1, std::memory_order_release);
}

std::vector<CallRecord> CallLog::since(std::uint64_t first) const {
  std::vector<CallRecord> records;
  const std::uint64_t end = next_.load(std::memory_order_acquire);
  for (std::uint64_t number = std::max(first, end > capacity ? end - capacity : 0); number < end; ++number) {
    const Slot& slot = slots_[number % capacity];
    if (slot.sequence.load(std::memory_order_acquire) != number + 1) {
      continue;
    }
    CallRecord record;
    record.number = number;
    record.at = {slot.at_ns.load(std::memory_order_relaxed)};
    const std::uint64_t who = slot.process_and_gpu.load(std::memory_order_relaxed);
    record.process = static_cast<std::int32_t>(who >> 32U);
    record.gpu = static_cast<std::int32_t>(who & 0xffffffffU);
    record.result = static_cast<std::int32_t>(slot.result.load(std::memory_order_relaxed));
    std::array<std::uint64_t, name_words> name{};
    for (std::size_t i = 0; i < name_words; ++i) {
      name[i] = slot.name[i].load(std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.sequence.load(std::memory_order_relaxed) != number + 1) {
      continue;
    }
    std::array<char, sizeof(name) + 1> text{};
    std::memcpy(text.data(), name.data(), sizeof(name));
    record.entry_point = text.data();
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace zeus::drivers
