// A body that is too long to be held in memory: in a temporary file that has no name, gone with the last who knows it.
// One thread fills it; then any may read it.
#pragma once

#include "base/file_descriptor.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace zeus::transport {

class LongBody {
 public:
  // An unavailable Error where no file can be made.
  LongBody();

  // An unavailable Error where there is no room for it.
  void append(std::string_view piece);
  [[nodiscard]] std::size_t size() const { return size_; }
  // What is at `offset`, as much as is there and fits: none at the end. An unavailable Error where it cannot be read.
  [[nodiscard]] std::span<char> read(std::size_t offset, std::span<char> into) const;

 private:
  FileDescriptor file_;
  std::size_t size_ = 0;
};

}  // namespace zeus::transport
