#include "store/postgres_address.hpp"

#include "store/libpq.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

namespace zeus::store {

namespace {

constexpr std::array<std::string_view, 2> schemes = {"postgresql://", "postgres://"};

// A lost machine is noticed within half a minute instead of hours.
constexpr std::array<std::pair<const char*, const char*>, 6> unless_said = {{
    {"connect_timeout", "10"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "4"},
    {"tcp_user_timeout", "30000"},
    {"fallback_application_name", "zeus"},
}};

Error refusal(std::string_view why) {
  return {ErrorKind::invalid_argument, fmt::format("the store's address {}", why),
          "write postgresql://USER@HOST:PORT/DATABASE?sslmode=MODE; in a user's name, a password or a database's name, "
          "@ is %40, / is %2F, : is %3A, ? is %3F and % is %25"};
}

// The parts shown as host, port and database must not contain the rest of a password.
void refuse_stray_signs(std::string_view location) {
  const std::string_view rest = location.substr(location.find("//") + 2);
  const std::size_t sign = rest.find('@');
  if (sign != std::string_view::npos && (rest.find('@', sign + 1) != std::string_view::npos ||
                                         rest.substr(0, sign).find_first_of("/?") != std::string_view::npos)) {
    throw refusal("has an @, a / or a ? too many");
  }
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') ||
                       std::string_view{"-._~"}.find(letter) != std::string_view::npos;
    result += plain ? std::string{letter} : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return result;
}

std::map<std::string, std::string> read(const std::string& location) {
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> options{
      libpq().conninfo_parse(location.c_str(), &problem), libpq().conninfo_free};
  // libpq's message would repeat the part it rejects, which may be a password.
  libpq().freemem(problem);
  if (options == nullptr) {
    throw refusal("is not one that PostgreSQL understands");
  }
  std::map<std::string, std::string> said;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) {
      said[option->keyword] = option->val;
    }
  }
  return said;
}

}  // namespace

bool is_postgres(std::string_view location) {
  return location.starts_with("postgresql:") || location.starts_with("postgres:");
}

PostgresAddress postgres_address(std::string_view location) {
  if (std::ranges::none_of(schemes, [&](std::string_view scheme) { return location.starts_with(scheme); })) {
    throw refusal("has no // after its scheme");
  }
  refuse_stray_signs(location);
  std::map<std::string, std::string> said = read(std::string{location});
  if (const auto port = said.find("port");
      port != said.end() && port->second.find_first_not_of("0123456789,") != std::string::npos) {
    throw refusal("has a port that is not a number");
  }
  const auto part = [&](const char* key) { return said.contains(key) ? said.at(key) : std::string{}; };
  const auto led_by = [](std::string_view sign, const std::string& text) {
    return text.empty() ? text : fmt::format("{}{}", sign, text);
  };
  const std::string user = part("user");
  const std::string host = part("host");
  const bool by_socket = host.starts_with('/');
  PostgresAddress address;
  address.shown = fmt::format("postgresql://{}{}{}{}{}", user.empty() ? "" : user + "@", by_socket ? "" : host,
                              led_by(":", part("port")), led_by("/", part("dbname")), by_socket ? "?host=" + host : "");
  for (const auto& [key, value] : unless_said) {
    said.try_emplace(key, value);
  }
  // SOCI would split the address at spaces, quotation marks and "=", and reassemble it.
  address.connection = "postgresql:///";
  for (const auto& [key, value] : said) {
    address.connection += fmt::format("{}{}={}", address.connection.ends_with('/') ? "?" : "&", key, escaped(value));
  }
  return address;
}

}  // namespace zeus::store
