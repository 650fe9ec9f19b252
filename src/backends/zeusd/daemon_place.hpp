// The daemon that a program uses, by its environment. A pure function apart from the files it reads; any thread.
#pragma once

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "transport/client.hpp"

#include <optional>
#include <string>

namespace zeus::backends::zeusd {

// Where zeusd listens unless it is told otherwise.
inline constexpr const char* usual_socket = "/run/zeusd/zeusd.sock";

struct DaemonPlace {
  transport::Endpoint endpoint;
  std::string token;          // empty: none
  bool is_asked_for = false;  // a variable names it; false if only its socket is there
  bool may_set_here = false;  // whether this process may set GPUs itself
};

// ZEUSD_SOCK_PATH, else ZEUSD_HOST_PORT with ZEUSD_TOKEN or with the file that ZEUSD_TOKEN_FILE names; else the usual
// socket, if it is there and this process may not set GPUs itself. Nothing otherwise, or if a variable that names the
// daemon is set but empty. A file that cannot be read is an Error. `machine` is where /run and /proc are.
std::optional<DaemonPlace> find_daemon(const Environment& environment, const FileTree& machine);

// The token of ZEUSD_TOKEN, or of the file that ZEUSD_TOKEN_FILE names; empty if neither is set. The file belongs to
// this user, who alone may read it, or to root, who may let others read it; another user may not write it. It may be a
// link of one of the two.
std::string zeusd_token(const Environment& environment);

}  // namespace zeus::backends::zeusd
