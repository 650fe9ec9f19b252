#include "backends/zeusd/daemon_place.hpp"

#include "base/printable.hpp"
#include "base/privileges.hpp"
#include "base/trusted_file.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <linux/capability.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

namespace zeus::backends::zeusd {

namespace {

std::string without_spaces(std::string text) {
  constexpr std::string_view spaces = " \t\r\n";
  text.erase(text.find_last_not_of(spaces) + 1);
  text.erase(0, text.find_first_not_of(spaces));
  return text;
}

}  // namespace

std::optional<DaemonPlace> find_daemon(const Environment& environment, const FileTree& machine) {
  const bool may_set_here = has_capability(machine, CAP_SYS_ADMIN);
  if (const std::optional<std::string> path = environment.get("ZEUSD_SOCK_PATH")) {
    return path->empty() ? std::nullopt : std::optional{DaemonPlace{{*path, {}}, {}, true, may_set_here}};
  }
  if (const std::optional<std::string> host = environment.get("ZEUSD_HOST_PORT")) {
    return host->empty() ? std::nullopt
                         : std::optional{DaemonPlace{{{}, *host}, zeusd_token(environment), true, may_set_here}};
  }
  if (!machine.exists(usual_socket) || may_set_here) {
    return std::nullopt;
  }
  return DaemonPlace{{machine.resolve(usual_socket).string(), {}}, {}, false, false};
}

std::string zeusd_token(const Environment& environment) {
  if (const std::optional<std::string> token = environment.get("ZEUSD_TOKEN"); token && !token->empty()) {
    return without_spaces(*token);
  }
  const std::optional<std::string> file = environment.get("ZEUSD_TOKEN_FILE");
  if (!file || file->empty()) {
    return {};
  }
  constexpr std::size_t most_bytes = 64UL * 1024;
  const auto token = read_trusted(std::filesystem::absolute(*file), ::geteuid(), most_bytes, Readers::owner);
  if (!token) {
    throw Error{ErrorKind::not_found,
                fmt::format("there is no file {}, which ZEUSD_TOKEN_FILE names", in_quotes(*file)),
                "name one that holds a token, or unset it"};
  }
  return without_spaces(*token);
}

}  // namespace zeus::backends::zeusd
