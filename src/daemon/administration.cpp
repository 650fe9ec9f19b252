#include "daemon/administration.hpp"

#include "command_line/options.hpp"
#include "protocol/device_leases.hpp"
#include "protocol/error_body.hpp"
#include "protocol/query.hpp"
#include "protocol/wire_values.hpp"
#include "transport/client.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <vector>

namespace zeus::daemon {

namespace {

transport::Answer ask(const std::string& admin_socket, const std::string& method, const std::string& path,
                      const std::string& query = {}) {
  transport::HttpClient client{{.server = {.unix_path = admin_socket, .host_port = {}}, .token = {}}};
  constexpr Seconds patience{30};
  return client.ask({.method = method, .path = path, .query = query, .headers = {}, .body = {}}, patience);
}

void require_ok(const transport::Answer& answer) {
  if (answer.status != static_cast<int>(protocol::Status::ok)) {
    throw Error{ErrorKind::invalid_argument, protocol::refusal_text(answer.body)};
  }
}

}  // namespace

bool reload(const std::string& admin_socket) {
  try {
    require_ok(ask(admin_socket, "POST", "/reload"));
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unavailable) {
      return false;
    }
    throw;
  }
}

void ReloadCommand::declare(command_line::Options& options) {
  options.example("zeusd reload", "after the policy, a key or a list of revoked tokens has changed");
  options.add_option("--admin-socket", admin_socket_, "The daemon's socket for its administrator")
      .path()
      .with_default();
}

int ReloadCommand::run(Context& context) {
  if (!reload(admin_socket_)) {
    throw Error{ErrorKind::unavailable, fmt::format("no daemon listens on {}", admin_socket_),
                "start it, or name its socket with --admin-socket"};
  }
  context.out << "policy, keys and revoked tokens were read again\n";
  return command_line::exit_ok;
}

void LeasesCommand::declare(command_line::Options& options) {
  options.example("zeusd leases", "who holds what");
  options.example("zeusd leases --end 5f2a...", "take it back, and put back what it has set");
  options.add_option("--end", end_, "Take back this lease").value_name("ID");
  options.add_flag("--json", json_, "Print JSON, on one line");
  options.add_option("--admin-socket", admin_socket_, "The daemon's socket for its administrator")
      .path()
      .with_default();
}

int LeasesCommand::run(Context& context) {
  if (end_) {
    require_ok(ask(admin_socket_, "POST", "/leases/end", "lease=" + protocol::percent_encoded(*end_)));
    context.out << fmt::format("lease {} has ended, and what it had set was put back\n", *end_);
    return command_line::exit_ok;
  }
  const transport::Answer answer = ask(admin_socket_, "GET", "/leases");
  require_ok(answer);
  if (json_) {
    context.out << answer.body << '\n';
    return command_line::exit_ok;
  }
  const auto list = protocol::read_answer<protocol::LeaseList>(answer.body);
  if (list.leases.empty()) {
    context.out << "no GPU is leased\n";
  }
  for (const protocol::ListedLease& lease : list.leases) {
    std::vector<std::uint32_t> gpus;
    for (const protocol::LeasedGpu& gpu : lease.gpus) {
      gpus.push_back(gpu.id);
    }
    context.out << fmt::format("{}  GPU {}  {}  for {:.0f} s{}\n", lease.id, fmt::join(gpus, ","),
                               to_text(lease.holder), lease.held.value(),
                               lease.kind == protocol::LeaseKind::implicit ? "  (no lease was asked for)" : "");
  }
  return command_line::exit_ok;
}

}  // namespace zeus::daemon
