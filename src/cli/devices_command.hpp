// `zeus devices`: the GPUs and CPU packages that can be seen, and why others cannot. Threads: as cli/command.hpp.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace zeus::cli {

class DevicesCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "devices"; }
  [[nodiscard]] std::string summary() const override { return "Show GPUs and CPU packages, and what each can do"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  bool json_ = false;
  std::string color_ = "auto";
};

}  // namespace zeus::cli
