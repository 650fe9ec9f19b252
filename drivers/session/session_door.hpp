// Where processes of other users get at a session that is opened to them, and which they cannot reach by the
// descriptors of its maker's processes: a socket in the kernel's own name space (no file is left behind), which hands
// out the segment's file to whoever connects. It is there as long as its SessionDoor, which has a thread for it.
#pragma once

#include "base/file_descriptor.hpp"

#include <cstdint>
#include <thread>

namespace zeus::drivers {

class SessionDoor {
 public:
  // For the segment with that token; `file` is the segment's, and must stay open.
  SessionDoor(std::uint64_t token, int file);
  SessionDoor(const SessionDoor&) = delete;
  SessionDoor& operator=(const SessionDoor&) = delete;
  ~SessionDoor();

  // The file of the segment with that token; none when there is no such door.
  static FileDescriptor knock(std::uint64_t token);

 private:
  void serve(int file) const;

  FileDescriptor socket_;
  FileDescriptor closing_;  // readable once the thread is to end
  std::thread thread_;
};

}  // namespace zeus::drivers
