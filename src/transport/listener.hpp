// Sockets that listen. Functions of the system; any thread, before the server runs.
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
  // With who seems to live: a program that a killed server was starting has open what that had, until it runs.
  Seconds patience{0};
};

// A Unix socket that listens, and the lock that says that its server lives.
struct UnixListener {
  FileDescriptor socket;
  FileDescriptor lock;  // held for as long as it is open
  // Which file the socket is, told from a later one of its name.
  dev_t device = 0;
  ino_t inode = 0;
};

// Makes the socket, with parent folders. It is never reachable with wider rights than these: it is bound in a folder
// that nobody else can enter, given its rights, and moved into its place. Errors, after which nothing has changed:
// conflict when somebody listens there; invalid_argument when something there is no socket, or the path is too long
// for a socket. A socket that nobody listens on any more is replaced: who lives holds the lock beside it.
UnixListener listen_on_unix(const UnixSocketPlan& plan);
// Removes the socket and its lock, if they are still these.
void remove_unix_socket(const std::filesystem::path& path, const UnixListener& listener);

// "127.0.0.1:4938", "[::1]:0", "localhost:4938": one socket for each address that the name has.
std::vector<FileDescriptor> listen_on_tcp(const std::string& address);
// "127.0.0.1:4938", where it listens in fact.
std::string address_of(const FileDescriptor& tcp_socket);

}  // namespace zeus::transport
