// `zeus monitor`: a live table of what the machine's GPUs and CPUs draw.
#pragma once

#include "cli/command.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class MonitorCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "monitor"; }
  [[nodiscard]] std::string summary() const override { return "Watch power, energy, clocks and what holds them back"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::vector<std::string> gpus_;
  Seconds interval_{1.0};
  std::optional<Seconds> duration_;
  std::optional<std::string> csv_;
  bool json_ = false;
  std::string color_ = "auto";
};

}  // namespace zeus::cli
