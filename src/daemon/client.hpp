// A client of the daemon, as the kernel or a token identifies it; leases belong to clients. Plain values; any thread.
#pragma once

#include "base/file_descriptor.hpp"
#include "daemon/policy.hpp"
#include "service/call.hpp"

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

// A process connected to the Unix socket.
struct ClientProcess {
  pid_t pid = 0;
  std::uint64_t started = 0;  // as Holder::started: tells it from a later process with the same ID
  // Becomes readable when the process has ended.
  std::shared_ptr<const FileDescriptor> end;
};

struct Client {
  std::optional<uid_t> user;
  std::vector<gid_t> groups;
  std::optional<ClientProcess> process;
  std::optional<std::string> token;  // the token's subject
  // The token itself, which is never shown. When keys are read again, it is checked again.
  std::shared_ptr<const std::string> bearer;

  [[nodiscard]] Asker asker() const { return {user, groups, token}; }
};

// The holder of a lease: two requests of one process, or with tokens of one subject, come from the same client.
struct ClientKey {
  pid_t pid = 0;
  std::uint64_t started = 0;
  std::string token;

  friend auto operator<=>(const ClientKey&, const ClientKey&) = default;
};

Client client_of(const service::Call& call);

// Empty for an unidentified client: one without a token, or a process that the kernel does not name.
std::optional<ClientKey> key_of(const Client& client);

// Whether both act for the same user, or for the same token's subject.
bool is_same_user(const Client& one, const Client& other);

// "user 1000's process 77", "the token of ann".
std::string to_text(const Client& client);

// By the kernel's present record (control/descent.hpp); both processes live.
bool descends_from(const ClientProcess& child, const ClientProcess& ancestor);

}  // namespace zeus::daemon
