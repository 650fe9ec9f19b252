// The administrator's commands to a running daemon, through its own socket: reload, and leases. As functions and as
// commands of zeusd. Each call waits for the daemon; main thread.
#pragma once

#include "daemon/context.hpp"

#include <optional>
#include <string>

namespace zeus::daemon {

// Makes the daemon read its files again. False if none listens there. Throws an Error if the daemon finds them wrong.
bool reload(const std::string& admin_socket);

class ReloadCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "reload"; }
  [[nodiscard]] std::string summary() const override { return "Make the daemon read policy and keys again"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  std::string admin_socket_ = "/run/zeusd-admin/admin.sock";
};

class LeasesCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "leases"; }
  [[nodiscard]] std::string summary() const override { return "Show who holds which GPU, or take one back"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  std::string admin_socket_ = "/run/zeusd-admin/admin.sock";
  std::optional<std::string> end_;
  bool json_ = false;
};

}  // namespace zeus::daemon
