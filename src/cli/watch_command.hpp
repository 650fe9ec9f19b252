// `zeus watch`: shows what the devices of many nodes draw, as their daemons report it.
#pragma once

#include "cli/command.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class WatchCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "watch"; }
  [[nodiscard]] std::string summary() const override { return "Watch power, energy and holders of many nodes"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::vector<std::string> nodes_;
  Seconds interval_{1.0};
  std::optional<Seconds> duration_;
  bool json_ = false;
  std::string color_ = "auto";
};

}  // namespace zeus::cli
