// A file of JSON lines, one for each change of a GPU's settings and each putting back, synced to the disk one by one.
// Space for a line is set aside before the change is made, so that a full disk is found out in time.
// Threads: any. Ownership: the Clock outlives it.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"

#include <zeus/error.hpp>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace zeus::daemon {

struct AuditLine {
  std::string gpu;  // UUID
  std::string why;
  std::string who;
  std::uint64_t lease = 0;  // 0: none
  std::string what;         // "power_limit"
  std::string before;
  std::string asked;
  std::string enforced;
  std::string outcome;  // "done", or why not
};

class AuditLog {
 public:
  // An Error where the file cannot be appended to, or is not this user's alone to write.
  AuditLog(std::filesystem::path file, Clock& clock);

  // Whether a line can be written for certain; says why not.
  [[nodiscard]] std::optional<Error> set_aside();
  // Writes the line and syncs it. What fails is an Error in the log of the program.
  void write(const AuditLine& line) noexcept;
  // Opens the file anew, after it was moved away.
  void reopen();

 private:
  static FileDescriptor open(const std::filesystem::path& file);

  const std::filesystem::path file_;
  Clock& clock_;
  std::mutex mutex_;
  FileDescriptor descriptor_;
};

}  // namespace zeus::daemon
