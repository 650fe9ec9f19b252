#include "measure/window_memory.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

namespace zeus::measure {

namespace {

// Sizes are rounded up to powers of two, so that a block also serves a window with a name of another length.
std::size_t exponent_of(std::size_t size) {
  return static_cast<std::size_t>(std::bit_width(std::max(size, sizeof(void*)) - 1));
}

}  // namespace

WindowMemory::~WindowMemory() {
  for (Unused* block : unused_) {
    while (block != nullptr) {
      ::operator delete(std::exchange(block, block->next));
    }
  }
}

void* WindowMemory::take(std::size_t size) {
  const std::size_t exponent = exponent_of(size);
  {
    const std::lock_guard guard{mutex_};
    if (Unused*& first = unused_.at(exponent); first != nullptr) {
      return std::exchange(first, first->next);
    }
  }
  // Two blocks, since a measurement often still holds the former window's block while the next window is open.
  const std::size_t rounded = std::size_t{1} << exponent;
  give_back(::operator new(rounded), rounded);
  return ::operator new(rounded);
}

void WindowMemory::give_back(void* block, std::size_t size) noexcept {
  const std::lock_guard guard{mutex_};
  Unused*& first = unused_[exponent_of(size)];
  first = new (block) Unused{first};
}

}  // namespace zeus::measure
