// Lets processes attach to a session that may not look into the descriptors of its maker's processes: those that have
// given up their capabilities, and other users' if the session is open to them. It is an abstract socket (no file is
// left behind) that hands out the segment's file to each process that may have it. It exists as long as its
// SessionDoor, which has a thread for it.
#pragma once

#include "base/file_descriptor.hpp"

#include <cstdint>
#include <thread>

namespace zeus::drivers {

enum class Admission { own_user, all_users };

class SessionDoor {
 public:
  // For the segment with that token; `file` is the segment's, and must stay open.
  SessionDoor(std::uint64_t token, int file, Admission admission);
  SessionDoor(const SessionDoor&) = delete;
  SessionDoor& operator=(const SessionDoor&) = delete;
  ~SessionDoor();

  // The file of the segment with that token; none if there is no such door.
  static FileDescriptor knock(std::uint64_t token);

 private:
  void serve(int file) const;
  [[nodiscard]] bool admits(int connection) const;

  Admission admission_;
  FileDescriptor socket_;
  FileDescriptor closing_;  // readable when the thread should end
  std::thread thread_;
};

}  // namespace zeus::drivers
