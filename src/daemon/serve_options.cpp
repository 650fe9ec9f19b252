#include "daemon/serve_options.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace zeus::daemon {

using protocol::Scope;

void ServeOptions::declare(command_line::Options& options) {
  options.group("Sockets");
  options.add_option("--mode", mode, "Where to listen: on a Unix socket, by TCP, or both")
      .delimiter(',')
      .among({"uds", "tcp"})
      .with_default("uds");
  options.add_option("--socket-path", socket_path, "The Unix socket").path().with_default();
  options.add_option("--socket-permissions", socket_permissions, "Its rights, in octal")
      .value_name("MODE")
      .with_default();
  options.add_option("--socket-uid", socket_uid, "Its owner's number");
  options.add_option("--socket-gid", socket_gid, "Its group's number")
      .with_default("that of the group zeus, where there is one");
  options.add_option("--tcp-bind-address", tcp_bind_address, "The address and port for TCP")
      .value_name("ADDRESS:PORT")
      .with_default();
  options.add_option("--host-name", host_name, "Another name by which clients call this node over TCP")
      .value_name("NAME");
  options.add_option("--admin-socket", admin_socket, "The administrator's Unix socket").path().with_default();
  options.add_option("--metrics-listen", metrics_listen, "Serve metrics for Prometheus, and nothing else, here")
      .value_name("ADDRESS:PORT");
  options.group("What is served");
  options.add_option("--enable", enable, "Groups of routes")
      .delimiter(',')
      .among({"gpu-control", "gpu-read", "cpu-read"})
      .with_default("all of them");
  options.add_option("--gpu-backend", gpu_backend, "Whose GPUs").among({"auto", "nvml", "amdsmi"}).with_default();
  options.add_option("--gpu-power-poll-hz", gpu_power_poll_hz, "How often streams read a GPU's power")
      .rule({.least = 0, .most = 1000})
      .with_default();
  options.add_option("--cpu-power-poll-hz", cpu_power_poll_hz, "How often streams read a CPU's power")
      .rule({.least = 0, .most = 1000})
      .with_default();
  options.add_option("--gpu-command-overrides", gpu_command_overrides, "Set GPUs by the commands in this file").path();
  options.group("Who may");
  options.add_option("--policy", policy, "Who may do what (default: /etc/zeusd/policy.toml, where it is there)").path();
  options
      .add_option("--signing-key-path", signing_key_path,
                  "Ask for tokens over TCP, signed with this key or a key "
                  "in this folder")
      .path();
  options.add_option("--audit-log", audit_log, "Write each change of a GPU's settings to this file").path();
  options.group("Other");
  options.add_flag("--log-requests", log_requests, "Log each request");
  options.add_option("--num-workers", num_workers, "Has no effect: one thread serves all requests")
      .rule({.least = 1, .most = 4096});
}

bool ServeOptions::serves(std::string_view mode_name) const {
  return mode.empty() ? mode_name == "uds" : std::ranges::find(mode, mode_name) != mode.end();
}

std::vector<Scope> ServeOptions::groups() const {
  if (enable.empty()) {
    return {Scope::gpu_control, Scope::gpu_read, Scope::cpu_read};
  }
  std::vector<Scope> all;
  for (const std::string& name : enable) {
    const std::optional<Scope> group = field::named<Scope>(name);
    if (group && std::ranges::find(all, *group) == all.end()) {
      all.push_back(*group);
    }
  }
  return all;
}

bool ServeOptions::enables(Scope group) const {
  const std::vector<Scope> all = groups();
  return std::ranges::find(all, group) != all.end();
}

void ServeOptions::check() const {
  unsigned rights = 0;
  const char* const end = socket_permissions.data() + socket_permissions.size();
  const auto [rest, error] = std::from_chars(socket_permissions.data(), end, rights, 8);
  if (error != std::errc{} || rest != end || rights > 0777) {
    throw Error{ErrorKind::invalid_argument, fmt::format("'{}' is not a file mode", socket_permissions),
                "write it in octal, as in 660"};
  }
  if (serves("tcp") && enables(Scope::gpu_control) && !signing_key_path) {
    throw Error{ErrorKind::invalid_argument,
                "any client that reaches TCP could set GPUs: --mode tcp with gpu-control needs a key",
                "name one with --signing-key-path (and issue tokens with `zeusd token issue`), or enable "
                "gpu-read,cpu-read alone"};
  }
}

}  // namespace zeus::daemon
