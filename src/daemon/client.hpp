// Who asks the daemon, as the kernel or a token says it: whose a lease is. Plain values; any thread.
#pragma once

#include "base/file_descriptor.hpp"
#include "daemon/policy.hpp"

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

// A process that has connected to the Unix socket.
struct ClientProcess {
  pid_t pid = 0;
  std::uint64_t started = 0;  // as Holder::started: tells it from a later one of the same number
  // Readable once it has ended.
  std::shared_ptr<const FileDescriptor> end;
};

struct Client {
  std::optional<uid_t> user;
  std::vector<gid_t> groups;
  std::optional<ClientProcess> process;
  std::optional<std::string> token;  // its subject
  std::vector<std::string> scopes;   // of the token
  // The token itself, which is shown to nobody: whether it is still believed is asked anew when keys are.
  std::shared_ptr<const std::string> bearer;

  [[nodiscard]] Asker asker() const { return {user, groups, token}; }
};

// What leases are held by: two requests of the same process, or with tokens of the same subject, are of one client.
struct ClientKey {
  pid_t pid = 0;
  std::uint64_t started = 0;
  std::string token;

  friend auto operator<=>(const ClientKey&, const ClientKey&) = default;
};

// Nothing where it cannot be told who asks: somebody without a token, a process that the kernel does not identify.
std::optional<ClientKey> key_of(const Client& client);

// "user 1000's process 77", "the token of ann".
std::string to_text(const Client& client);

// As the kernel has it now (control/descent.hpp); both live.
bool descends_from(const ClientProcess& child, const ClientProcess& ancestor);

}  // namespace zeus::daemon
