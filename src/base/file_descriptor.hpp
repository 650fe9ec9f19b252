// An owned file descriptor, and the two things that every user of one needs: to turn errno into an Error, and to write
// a whole string. Movable, not shared; each belongs to one thread at a time.
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

// Writes all of `content`, in as many calls as that takes; `name` is what an Error calls the file.
void write_all(const FileDescriptor& file, std::string_view content, const std::string& name);

// Raises this process's limit of open descriptors as far as it may go, up to 16,384: the usual one of 1,024 is low.
void allow_many_descriptors();

}  // namespace zeus
