// The options of `zeusd serve`, which `zeusd restore` also takes. Plain values.
#pragma once

#include "command_line/options.hpp"
#include "protocol/scopes.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

struct ServeOptions {
  std::vector<std::string> mode;  // uds if empty
  std::string socket_path = "/run/zeusd/zeusd.sock";
  std::string socket_permissions = "660";
  std::optional<int> socket_uid;
  std::optional<int> socket_gid;
  std::string tcp_bind_address = "127.0.0.1:4938";
  int num_workers = 1;
  int gpu_power_poll_hz = 20;
  int cpu_power_poll_hz = 10;
  std::string gpu_backend = "auto";
  std::vector<std::string> enable;  // all if empty
  std::optional<std::string> gpu_command_overrides;
  std::optional<std::string> signing_key_path;
  std::optional<std::string> policy;
  std::optional<std::string> audit_log;
  std::optional<std::string> metrics_listen;
  std::vector<std::string> host_name;
  std::string admin_socket = "/run/zeusd-admin/admin.sock";
  bool log_requests = false;

  void declare(command_line::Options& options);

  // Throws an invalid_argument Error for options that contradict each other or are out of range.
  void check() const;
  [[nodiscard]] std::vector<protocol::Scope> groups() const;
  [[nodiscard]] bool serves(std::string_view mode_name) const;
  [[nodiscard]] bool enables(protocol::Scope group) const;
};

}  // namespace zeus::daemon
