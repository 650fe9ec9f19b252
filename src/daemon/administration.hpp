// What the administrator tells a daemon that runs, through its own socket, as functions and as commands: reload, and
// leases. Each call waits for the daemon; main thread.
#pragma once

#include "daemon/context.hpp"

#include <optional>
#include <string>

namespace zeus::daemon {

// Has the daemon read its files anew; false where none listens there. An Error where it says what is wrong with them.
bool reload(const std::string& admin_socket);

class ReloadCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "reload"; }
  [[nodiscard]] std::string summary() const override { return "Have the daemon read policy and keys anew"; }
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
