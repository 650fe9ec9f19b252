#include "control/lease_client.hpp"

#include <fmt/format.h>

namespace zeus::control {

std::string to_text(const LeaseClient& client) {
  const std::string process = client.process ? to_text(*client.process) : "";
  const std::string user = client.user ? fmt::format("user {}", *client.user) : "";
  const std::string who = !user.empty() && !process.empty() ? user + "'s " + process : user + process;
  const std::string token = client.token ? fmt::format("the token of {}", *client.token) : "";
  if (!who.empty() && !token.empty()) {
    return fmt::format("{} with {}", who, token);
  }
  if (!who.empty() || !token.empty()) {
    return who + token;
  }
  return client.control_group ? fmt::format("the control group {}", *client.control_group) : "an unknown client";
}

}  // namespace zeus::control
