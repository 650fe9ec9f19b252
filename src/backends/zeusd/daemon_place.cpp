#include "backends/zeusd/daemon_place.hpp"

#include "base/printable.hpp"
#include "base/privileges.hpp"
#include "base/trusted_file.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace zeus::backends::zeusd {

namespace {

std::string without_spaces(std::string text) {
  constexpr std::string_view spaces = " \t\r\n";
  text.erase(text.find_last_not_of(spaces) + 1);
  text.erase(0, text.find_first_not_of(spaces));
  return text;
}

// Kubernetes mounts a secret as a link to a file. A link of another user is refused when it is read.
std::filesystem::path behind_links(std::filesystem::path file) {
  constexpr int most_links = 8;
  for (int links = 0; links < most_links; ++links) {
    struct stat status {};
    std::error_code error;
    if (::lstat(file.c_str(), &status) != 0 || !S_ISLNK(status.st_mode) ||
        (status.st_uid != 0 && status.st_uid != ::geteuid())) {
      return file;
    }
    file = file.parent_path() / std::filesystem::read_symlink(file, error);
  }
  return file;
}

// This user can take the right to read its own file from others. Who may read a file of root's, root has decided.
Readers permitted_readers(const std::filesystem::path& file) {
  struct stat status {};
  const bool is_roots = ::geteuid() != 0 && ::lstat(file.c_str(), &status) == 0 && status.st_uid == 0;
  return is_roots ? Readers::everyone : Readers::owner;
}

std::string token_in(const std::filesystem::path& named) {
  constexpr std::size_t most_bytes = 64UL * 1024;
  ErrorKind kind{};
  std::string why;
  try {
    const std::filesystem::path file = behind_links(std::filesystem::absolute(named));
    if (const auto token = read_trusted(file, ::geteuid(), most_bytes, permitted_readers(file))) {
      return without_spaces(*token);
    }
  } catch (const Error& error) {
    kind = error.kind();
    why = error.message();
  }
  // What the reader of files that decide something advises is not meant for a token.
  if (!why.empty()) {
    throw Error{
        kind, why,
        "ZEUSD_TOKEN_FILE has to name a file of this user with mode 400 or 600, or a file of root that no other "
        "user may write to"};
  }
  throw Error{ErrorKind::not_found,
              fmt::format("there is no file {}, which ZEUSD_TOKEN_FILE names", in_quotes(named.string())),
              "name one that holds a token, or unset it"};
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
  return file && !file->empty() ? token_in(*file) : std::string{};
}

}  // namespace zeus::backends::zeusd
