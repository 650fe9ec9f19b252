// Listening sockets. Functions of the system; any thread, before the server runs.
#pragma once

#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zeus::transport {

struct UnixSocketPlan {
  std::filesystem::path path;
  mode_t mode = 0600;
  std::optional<uid_t> user;
  std::optional<gid_t> group;
  // How long to wait if a server seems to live: a program that a killed server was starting holds its files open until
  // it runs.
  Seconds patience{0};
};

// A listening Unix socket, and the lock that shows that its server lives.
struct UnixListener {
  FileDescriptor socket;
  FileDescriptor lock;  // held for as long as it is open
  // Identify the socket's file, to distinguish it from a later one of the same name.
  dev_t device = 0;
  ino_t inode = 0;
};

// Makes the socket, with parent folders. The socket is never reachable with wider rights than these: it is bound in a
// folder that no one else can enter, gets its rights, and is moved to its place. Errors, after which nothing has
// changed: conflict if a server listens there; invalid_argument if the path exists and is not a socket, or is too long
// for one. A socket without a server is replaced: a living server holds the lock beside it.
UnixListener listen_on_unix(const UnixSocketPlan& plan);
// Removes the socket and its lock, if they are still these.
void remove_unix_socket(const std::filesystem::path& path, const UnixListener& listener);

// "127.0.0.1:4938", "[::1]:0", "localhost:4938": one socket for each address that the name has.
std::vector<FileDescriptor> listen_on_tcp(const std::string& address);
// "127.0.0.1:4938", where it really listens.
std::string address_of(const FileDescriptor& tcp_socket);

}  // namespace zeus::transport
