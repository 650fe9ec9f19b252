// Which daemon a program speaks to, as its environment says. A pure function but for the files it is given; any thread.
#pragma once

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "transport/client.hpp"

#include <optional>
#include <string>

namespace zeus::backends::zeusd {

struct DaemonPlace {
  transport::Endpoint endpoint;
  std::string token;          // empty: none
  bool is_asked_for = false;  // by a variable, not because its socket is there
  bool may_set_here = false;  // whether this process may set GPUs itself
};

// ZEUSD_SOCK_PATH, else ZEUSD_HOST_PORT with ZEUSD_TOKEN, or with the file that ZEUSD_TOKEN_FILE names; else the usual
// socket, where it is there and this process may not set GPUs itself. Nothing where none of this is so, or a variable
// that names the daemon is set to nothing. A file that cannot be read is an Error. `machine` is where /run and /proc
// are.
std::optional<DaemonPlace> find_daemon(const Environment& environment, const FileTree& machine);

}  // namespace zeus::backends::zeusd
