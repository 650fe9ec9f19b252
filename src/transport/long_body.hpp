// A body that is too long for memory, in a temporary file without a name, which vanishes with its last owner. One
// thread fills it; after that, any thread may read it.
#pragma once

#include "base/file_descriptor.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace zeus::transport {

class LongBody {
 public:
  // An unavailable Error if the file cannot be created.
  LongBody();

  // An unavailable Error if the disk is full.
  void append(std::string_view piece);
  [[nodiscard]] std::size_t size() const { return size_; }
  // The bytes from `offset` on, at most as many as `into` holds; empty at the end. An unavailable Error if the file
  // cannot be read.
  [[nodiscard]] std::span<char> read(std::size_t offset, std::span<char> into) const;
  // All of it, in memory. An unavailable Error if the file cannot be read.
  [[nodiscard]] std::string whole() const;

 private:
  FileDescriptor file_;
  std::size_t size_ = 0;
};

}  // namespace zeus::transport
