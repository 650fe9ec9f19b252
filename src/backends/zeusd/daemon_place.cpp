#include "backends/zeusd/daemon_place.hpp"

#include "base/privileges.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <linux/capability.h>

#include <string_view>
#include <utility>

namespace zeus::backends::zeusd {

namespace {

constexpr const char* usual_socket = "/run/zeusd/zeusd.sock";

std::string without_spaces(std::string text) {
  constexpr std::string_view spaces = " \t\r\n";
  text.erase(text.find_last_not_of(spaces) + 1);
  text.erase(0, text.find_first_not_of(spaces));
  return text;
}

std::string token_of(const Environment& environment) {
  if (const std::optional<std::string> token = environment.get("ZEUSD_TOKEN"); token && !token->empty()) {
    return without_spaces(*token);
  }
  const std::optional<std::string> file = environment.get("ZEUSD_TOKEN_FILE");
  if (!file || file->empty()) {
    return {};
  }
  constexpr std::size_t most_bytes = 16UL * 1024;
  const std::optional<std::string> token = FileTree{}.read(*file, most_bytes);
  if (!token) {
    throw Error{ErrorKind::not_found, fmt::format("the token for zeusd cannot be read from '{}'", *file),
                "set ZEUSD_TOKEN_FILE to a file that you can read"};
  }
  return without_spaces(*token);
}

}  // namespace

std::optional<DaemonPlace> find_daemon(const Environment& environment, const FileTree& machine) {
  const bool may_set_here = has_capability(machine, CAP_SYS_ADMIN);
  if (const std::optional<std::string> path = environment.get("ZEUSD_SOCK_PATH")) {
    return path->empty() ? std::nullopt : std::optional{DaemonPlace{{*path, {}}, {}, true, may_set_here}};
  }
  if (const std::optional<std::string> host = environment.get("ZEUSD_HOST_PORT")) {
    return host->empty() ? std::nullopt
                         : std::optional{DaemonPlace{{{}, *host}, token_of(environment), true, may_set_here}};
  }
  if (!machine.exists(usual_socket) || may_set_here) {
    return std::nullopt;
  }
  return DaemonPlace{{machine.resolve(usual_socket).string(), {}}, {}, false, false};
}

}  // namespace zeus::backends::zeusd
