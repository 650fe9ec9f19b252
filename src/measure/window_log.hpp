// Windows as lines of a CSV file. A line is written whole or not at all, also when the disk fills up; a line that
// cannot be written is logged once and stops nothing. Written by the process that opened it alone. One thread at a
// time.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/measure.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace zeus::measure {

enum class LogForm {
  plain,     // start_time,window_name,elapsed_time,gpu0_energy,...: what existing tools read
  complete,  // the same with uncertainty, method and throttling of each GPU, and CPUs and memory
};

class WindowLog {
 public:
  // Replaces what was in the file; a file that cannot be written is an Error.
  WindowLog(std::filesystem::path file, LogForm form, std::vector<int> gpus, std::vector<int> cpus);

  void add(const Measurement& measurement);

 private:
  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string row(const Measurement& measurement) const;
  [[nodiscard]] bool append(const std::string& line);

  std::filesystem::path path_;
  LogForm form_;
  std::vector<int> gpus_;
  std::vector<int> cpus_;
  FileDescriptor file_;
  std::uint64_t opened_after_forks_;
  bool failed_ = false;
};

}  // namespace zeus::measure
