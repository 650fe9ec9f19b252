// The memory of windows: a block that one window gives back serves the next one. A window is alive while it is open or
// a measurement holds it. begin() and end() allocate only if more windows are alive than ever before. Blocks go back to
// the system when the monitor and all of its measurements are gone. Any thread.
#pragma once

#include "measure/fork_guard.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace zeus::measure {

class WindowMemory {
 public:
  WindowMemory() = default;
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;
  ~WindowMemory();

  [[nodiscard]] void* take(std::size_t size);
  // `size` must be the one that the block was taken with.
  void give_back(void* block, std::size_t size) noexcept;

 private:
  struct Unused {
    Unused* next;
  };

  ForkMutex mutex_;
  std::array<Unused*, 48> unused_{};  // by the exponent of the block's size
};

// For containers and shared pointers, each of which keeps the memory alive.
template <typename T>
class WindowAllocator {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard library's name
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  explicit WindowAllocator(std::shared_ptr<WindowMemory> memory) : memory_{std::move(memory)} {}
  // Containers convert allocators implicitly.
  template <typename Other>
  WindowAllocator(const WindowAllocator<Other>& other)  // NOLINT(google-explicit-constructor)
      : memory_{other.memory()} {}

  // T may be a pointer: its own size is what is wanted.
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(memory_->take(count * sizeof(T)));  // NOLINT(bugprone-sizeof-expression)
  }
  void deallocate(T* block, std::size_t count) noexcept {
    memory_->give_back(block, count * sizeof(T));  // NOLINT(bugprone-sizeof-expression)
  }

  [[nodiscard]] const std::shared_ptr<WindowMemory>& memory() const { return memory_; }
  template <typename Other>
  friend bool operator==(const WindowAllocator& a, const WindowAllocator<Other>& b) {
    return a.memory() == b.memory();
  }

 private:
  std::shared_ptr<WindowMemory> memory_;
};

}  // namespace zeus::measure
