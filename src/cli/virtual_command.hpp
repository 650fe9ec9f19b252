// `zeus virtual`: runs a command on virtual GPUs; its programs see them as NVIDIA's or AMD's.
#pragma once

#include "cli/command.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class VirtualCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "virtual"; }
  [[nodiscard]] std::string summary() const override { return "Run a command on virtual GPUs"; }
  void declare(Options& options) override;
  [[nodiscard]] int failure_code() const override;
  int run(Context& context) override;

 private:
  std::string gpus_;
  std::optional<std::string> load_;
  std::optional<std::string> faults_;
  std::optional<std::string> truth_;
  std::optional<std::string> session_;
  bool shared_ = false;
  std::vector<std::string> command_;
};

}  // namespace zeus::cli
