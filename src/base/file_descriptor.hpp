// An owned file descriptor, and the two things everybody does with one: turn errno into an Error, and write all of a
// text. Movable, not shared; each one belongs to a single thread at a time.
#pragma once

#include <zeus/error.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace zeus {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_{descriptor} {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] explicit operator bool() const { return descriptor_ >= 0; }
  [[nodiscard]] int get() const { return descriptor_; }
  void close();

 private:
  int descriptor_ = -1;
};

// The Error for an errno value: "<what>: <reason of the system>", with the kind and the advice that fit the errno.
Error system_failure(int error, const std::string& what);

// Writes all of `content`, however many calls that takes; `name` is what the file is called in an Error.
void write_all(const FileDescriptor& file, std::string_view content, const std::string& name);

}  // namespace zeus
