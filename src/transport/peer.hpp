// Who is at the other end of a connection, as the kernel says it; nothing of it is what the peer says of itself.
// Plain values, but for the process's descriptor, which its last copy closes.
#pragma once

#include "base/file_descriptor.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::transport {

// Who connected to a Unix socket, at the moment when it did. A process that goes on with a connection that another one
// has opened (a forked child) speaks in the name of that one.
struct LocalPeer {
  pid_t pid = 0;  // 0 where it is in a namespace of processes that cannot be seen from here
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // the supplementary ones, as the kernel has them
  // Readable once the process has ended; null where the process could not be told for certain: it had ended already,
  // or its number may have been used again.
  std::shared_ptr<const FileDescriptor> process;
  std::uint64_t started = 0;  // when it began, as Holder::started; 0 where that is not known
};

struct Peer {
  std::uint64_t connection = 0;    // told from every other connection to this server by its number
  std::optional<LocalPeer> local;  // for a Unix socket
  std::string address;             // for TCP, without the port: "192.0.2.7"
};

}  // namespace zeus::transport
