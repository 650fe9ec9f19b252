#include "protocol/device_leases.hpp"

#include <fmt/format.h>

namespace zeus::protocol {

std::string to_text(const LeaseHolder& holder) {
  std::string text;
  const auto add = [&](std::string_view before, const std::string& words) {
    text += text.empty() ? words : fmt::format("{}{}", before, words);
  };
  if (holder.token) {
    add("", fmt::format("the token of {}", *holder.token));
  }
  if (holder.pid) {
    add(", ", fmt::format("process {}", *holder.pid));
  }
  if (holder.command) {
    text += fmt::format("{}({})", text.empty() ? "" : " ", *holder.command);
  }
  if (holder.user) {
    add(" of ", fmt::format("user {}", *holder.user));
  } else if (holder.uid) {
    add(" of ", fmt::format("user {}", *holder.uid));
  }
  return text.empty() ? "an unknown process" : text;
}

}  // namespace zeus::protocol
