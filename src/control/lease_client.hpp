// For whom a lease is held, where that is not the process that holds it: whoever has asked a daemon. Of these it says
// what its holder knows of them; what is not known is left out. Plain values; any thread.
#pragma once

#include "base/holder.hpp"

#include <zeus/fields.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::control {

struct LeaseClient {
  std::optional<std::int64_t> user;          // its number, in the holder's namespace of users
  std::optional<Holder> process;             // as the holder sees it
  std::optional<std::string> control_group;  // of that process, as /proc/PID/cgroup has it
  std::optional<std::string> token;          // whom it was given to, its subject

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("user", self.user, field::Rule{.least = 0.0, .left_out = true});
    fields("process", self.process, field::Rule{.left_out = true});
    fields("control_group", self.control_group, field::Rule{.left_out = true});
    fields("token", self.token, field::Rule{.left_out = true});
  }
  friend bool operator==(const LeaseClient&, const LeaseClient&) = default;
};

// "user 1000's process 77 (python3)", "user 1000", "the token of alice", for a person. The control group alone where
// nothing else is known; "somebody" where nothing is.
std::string to_text(const LeaseClient& client);

}  // namespace zeus::control
