// A file of JSON lines: one for each change of a GPU's settings and for each time they are put back, synced to the disk
// one by one. Space for a line is reserved before the change is made, so that a full disk is noticed in time.
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

namespace zeus::setter {

struct AuditLine {
  std::string gpu;  // its UUID
  std::string why;
  std::string who;
  std::uint64_t lease = 0;  // 0: none
  std::string what;         // "power_limit"
  std::string before;
  std::string asked;
  std::string enforced;
  std::string outcome;  // "done", or why it was not done
};

class AuditLog {
 public:
  // Throws an Error if the file cannot be appended to, or if others than this user may write it.
  AuditLog(std::filesystem::path file, Clock& clock);

  // Reserves the space for a line; an Error says why that failed.
  [[nodiscard]] std::optional<Error> set_aside();
  // Writes the line and syncs it. A failure is logged as an error of the program.
  void write(const AuditLine& line) noexcept;
  // A call that was refused before it reached a GPU. Does not wait for the disk, since anyone may send many: of more
  // than a hundred in a second only the number is written, with the next one.
  void write_refusal(AuditLine line) noexcept;
  // Opens the file again, after it was moved away.
  void reopen();

 private:
  static FileDescriptor open(const std::filesystem::path& file);
  void append(const AuditLine& line, bool syncs);

  const std::filesystem::path file_;
  Clock& clock_;
  std::mutex mutex_;
  FileDescriptor descriptor_;
  Instant second_;  // in which these refusals were written
  std::uint64_t refusals_ = 0;
};

}  // namespace zeus::setter
