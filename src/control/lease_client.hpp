// The client that a lease is held for, if that is not the process that holds it: a daemon holds leases for its clients.
// It has what the holder knows of the client and leaves out the rest. Plain values; any thread.
#pragma once

#include "base/holder.hpp"

#include <zeus/fields.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::control {

struct LeaseClient {
  std::optional<std::int64_t> user;          // user ID, in the holder's user namespace
  std::optional<Holder> process;             // as the holder sees it
  std::optional<std::string> control_group;  // of that process, as in /proc/PID/cgroup
  std::optional<std::string> token;          // the token's subject: the user it was given to

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("user", self.user, field::Rule{.least = 0.0, .left_out = true});
    fields("process", self.process, field::Rule{.left_out = true});
    fields("control_group", self.control_group, field::Rule{.left_out = true});
    fields("token", self.token, field::Rule{.left_out = true});
  }
  friend bool operator==(const LeaseClient&, const LeaseClient&) = default;
};

// "user 1000's process 77 (python3)", "user 1000", "the token of alice", for messages. The control group alone if
// nothing else is known; "an unknown client" if that is not known either.
std::string to_text(const LeaseClient& client);

}  // namespace zeus::control
