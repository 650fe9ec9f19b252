// Lets processes of other users attach to a session that is open to them, since they cannot use the descriptors of its
// maker's processes. It is an abstract socket (no file is left behind) that hands out the segment's file to every
// process that connects. It exists as long as its SessionDoor, which has a thread for it.
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

  // The file of the segment with that token; none if there is no such door.
  static FileDescriptor knock(std::uint64_t token);

 private:
  void serve(int file) const;

  FileDescriptor socket_;
  FileDescriptor closing_;  // readable when the thread should end
  std::thread thread_;
};

}  // namespace zeus::drivers
