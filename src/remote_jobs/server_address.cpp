#include "remote_jobs/server_address.hpp"

#include "protocol/query.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace zeus::remote_jobs {

namespace {

constexpr std::string_view http = "http://";
constexpr std::string_view https = "https://";
constexpr std::string_view unix_socket = "unix:";
constexpr std::string_view advice = "write https://HOST, http://HOST:PORT, http://NAME:TOKEN@HOST:PORT or unix:/PATH";

[[noreturn]] void refuse(std::string_view why) {
  throw Error{ErrorKind::invalid_argument, fmt::format("the server's address cannot be used: {}", why),
              std::string{advice}};
}

std::string host_port(std::string_view authority, std::string_view usual_port) {
  const bool bracketed = authority.starts_with('[');
  const std::size_t host_end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed && host_end == std::string_view::npos) {
    refuse("it opens a bracket and does not close it");
  }
  const std::string_view rest =
      host_end == std::string_view::npos ? std::string_view{} : authority.substr(host_end + (bracketed ? 1 : 0));
  if (authority.empty() || authority.starts_with(':')) {
    refuse("it names no host");
  }
  if (rest.empty()) {
    return fmt::format("{}:{}", authority, usual_port);
  }
  const std::string_view port = rest.substr(1);
  const bool digits = std::ranges::all_of(port, [](char letter) { return letter >= '0' && letter <= '9'; });
  if (!rest.starts_with(':') || port.empty() || port.size() > 5 || !digits) {
    refuse("its port is not a number");
  }
  return std::string{authority};
}

}  // namespace

ServerAddress server_address(std::string_view text, const Environment& environment) {
  if (text.starts_with(unix_socket)) {
    const std::string_view path = text.substr(unix_socket.size());
    if (!path.starts_with('/')) {
      refuse("unix: needs an absolute path");
    }
    return {.endpoint = {.unix_path = std::string{path}, .host_port = {}},
            .prefix = {},
            .token = {},
            .shown = std::string{text}};
  }
  const bool is_secure = text.starts_with(https);
  if (!is_secure && !text.starts_with(http)) {
    refuse("it begins with none of http://, https:// and unix:");
  }
  const std::string_view scheme = is_secure ? https : http;
  std::string_view rest = text.substr(scheme.size());
  const std::size_t path_begins = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view path = rest.substr(path_begins);
  rest = rest.substr(0, path_begins);
  if (path.find_first_of("?#") != std::string_view::npos) {
    refuse("it has a query");
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  std::string token;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (const std::size_t colon = user.find(':'); colon != std::string_view::npos) {
      const std::optional<std::string> password = protocol::percent_decoded(user.substr(colon + 1));
      if (!password) {
        refuse("its password is not percent-encoded");
      }
      token = *password;
    }
  }
  const std::string authority = host_port(rest, is_secure ? "443" : "80");
  return {.endpoint = {.unix_path = {}, .host_port = authority},
          .prefix = std::string{path},
          .token = std::move(token),
          .shown = fmt::format("{}{}{}", scheme, rest, path),
          .authorities = is_secure ? tls::Authorities::of(environment) : nullptr};
}

}  // namespace zeus::remote_jobs
