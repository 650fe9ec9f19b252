// Received bytes that are not yet used: one flat block, which grows up to its bound and shrinks again once it is empty.
// Only room() moves bytes, so what was returned stays valid until its next call. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace zeus::transport {

class InputBuffer {
 public:
  explicit InputBuffer(std::size_t most) : most_{most} {}

  // Where the next bytes go; empty when the bound is reached.
  std::span<char> room() {
    if (begin_ == end_ && (capacity_ == 0 || capacity_ > first_size)) {
      resize(std::min(first_size, most_));
    } else if (end_ == capacity_) {
      resize(end_ - begin_ <= capacity_ / 2 ? capacity_ : std::min(2 * capacity_, most_));
    } else if (begin_ == end_) {
      begin_ = end_ = 0;
    }
    return {data_.get() + end_, capacity_ - end_};
  }
  void filled(std::size_t count) { end_ += count; }
  [[nodiscard]] std::string_view waiting() const { return {data_.get() + begin_, end_ - begin_}; }
  void use(std::size_t count) { begin_ += count; }
  [[nodiscard]] bool is_empty() const { return begin_ == end_; }

 private:
  static constexpr std::size_t first_size = 4096;

  void resize(std::size_t capacity) {
    const std::size_t length = end_ - begin_;
    if (capacity == capacity_) {
      if (begin_ > 0) {
        std::memmove(data_.get(), data_.get() + begin_, length);
      }
    } else {
      std::unique_ptr<char[]> larger{new char[capacity]};
      if (length > 0) {
        std::memcpy(larger.get(), data_.get() + begin_, length);
      }
      data_ = std::move(larger);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = length;
  }

  std::size_t most_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::unique_ptr<char[]> data_;
};

}  // namespace zeus::transport
