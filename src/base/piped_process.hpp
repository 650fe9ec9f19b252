// A child process with a pipe for each of its standard streams, of which several are read side by side, without
// waiting. It has a process group of its own, so no Ctrl-C reaches it, and its input stays open until it is closed. No
// other code may collect it. One thread.
#pragma once

#include "base/environment.hpp"
#include "base/file_descriptor.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

class PipedProcess {
 public:
  // Starts `words` (the first is a program of PATH, or a path) and writes `input`, which fits into a pipe. A system
  // Error if that fails, an unavailable one if the pipe has no room: the kernel makes small ones for a user who has
  // many.
  PipedProcess(std::vector<std::string> words, const Environment& environment, std::string_view input);
  PipedProcess(const PipedProcess&) = delete;
  PipedProcess& operator=(const PipedProcess&) = delete;
  // Closes its streams, and leaves it to its own end.
  ~PipedProcess() = default;

  // Descriptors to wait for: readable if there is output, errors, or the end.
  [[nodiscard]] const FileDescriptor& output() const { return output_; }
  [[nodiscard]] const FileDescriptor& errors() const { return errors_; }
  [[nodiscard]] const FileDescriptor& end() const { return end_; }

  // Reads what is there of the output, up to 1 MiB, and keeps the last of the errors. Once the process has ended, one
  // call reads all that it left.
  void read(const std::function<void(std::string_view)>& output);
  // Once it has ended, and what it left has been read: its exit code, 128 + n for signal n.
  [[nodiscard]] std::optional<int> exit_code();
  // The last lines of what it wrote to standard error.
  [[nodiscard]] const std::string& last_errors() const { return last_errors_; }

  void close_input() { input_.close(); }
  void kill() const;

 private:
  pid_t process_ = -1;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
  FileDescriptor end_;
  std::string last_errors_;
};

}  // namespace zeus
