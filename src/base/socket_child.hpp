// A program of ours that works for this process and ends when this process does: it sees the end of the socket between
// them (base/inherited_socket.hpp). It shares our standard output and error, and has none of our other open files. All
// signals that can be blocked are blocked in it, so that only the end of the socket ends it.
//
// One thread at a time.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace zeus {

class SocketChild {
 public:
  // `theirs` becomes its socket. It inherits the environment. Throws an Error if it cannot be run.
  SocketChild(const std::filesystem::path& program, const std::vector<std::string>& arguments,
              const FileDescriptor& theirs);
  SocketChild(const SocketChild&) = delete;
  SocketChild& operator=(const SocketChild&) = delete;
  ~SocketChild() = default;

  [[nodiscard]] pid_t id() const { return process_; }
  // Waits until it has ended, in real time; false if it has not by then.
  bool wait(Seconds patience);

 private:
  pid_t process_ = -1;
  bool ended_ = false;
};

}  // namespace zeus
