// `zeus doctor`: what works on this machine, what does not, and the exact fix. Threads: as cli/command.hpp.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace zeus::cli {

class DoctorCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "doctor"; }
  [[nodiscard]] std::string summary() const override { return "Say what works here, what does not, and the fix"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  bool json_ = false;
  std::string color_ = "auto";
};

}  // namespace zeus::cli
