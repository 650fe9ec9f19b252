// `zeus restore`: puts back the settings that dead holders of leases left on GPUs. Threads: as cli/command.hpp.
#pragma once

#include "cli/command.hpp"

#include <optional>
#include <string>

namespace zeus::cli {

class RestoreCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "restore"; }
  [[nodiscard]] std::string summary() const override {
    return "Put back GPU settings that a process left behind when it died";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::optional<std::string> gpu_;  // a number or a UUID; empty: all GPUs
  bool forget_ = false;
  bool json_ = false;
};

}  // namespace zeus::cli
