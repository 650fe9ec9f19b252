// `zeusd serve`: the daemon itself. Main thread.
#pragma once

#include "daemon/context.hpp"
#include "daemon/serve_options.hpp"
#include "device/inventory.hpp"

#include <string>

namespace zeus::daemon {

class ServeCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "serve"; }
  [[nodiscard]] std::string summary() const override { return "Serve this node's GPUs and CPUs until it is stopped"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  ServeOptions serve_;
};

// Puts back what a dead daemon has left changed, with the same commands for GPUs as that daemon had.
class RestoreCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "restore"; }
  [[nodiscard]] std::string summary() const override { return "Put back what a dead daemon has left changed"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  ServeOptions serve_;
};

}  // namespace zeus::daemon
