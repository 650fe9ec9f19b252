// The process at the other end of a connection, as the kernel reports it; nothing here comes from the peer itself.
// Plain values, except for the process's descriptor, which its last copy closes.
#pragma once

#include "base/file_descriptor.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::transport {

// The process that connected to a Unix socket, as it was at that moment. A process that uses a connection opened by
// another one (a forked child) speaks in that process's name.
struct LocalPeer {
  pid_t pid = 0;  // 0 for a process in another namespace, invisible from here
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // the supplementary ones, as the kernel has them
  // Readable once the process has ended. Null if the process could not be identified for certain: it had ended already,
  // or its ID may have been used again.
  std::shared_ptr<const FileDescriptor> process;
  std::uint64_t started = 0;  // when it began, as Holder::started; 0 if unknown
};

struct Peer {
  std::uint64_t connection = 0;    // the number of the connection, unique within the server
  std::optional<LocalPeer> local;  // for a Unix socket
  std::string address;             // for TCP, without the port: "192.0.2.7"
};

}  // namespace zeus::transport
