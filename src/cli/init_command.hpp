// `zeus init`: makes a job file by watching one run of its command.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace zeus::cli {

class InitCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "init"; }
  [[nodiscard]] std::string summary() const override { return "Make a job file by watching one run of a command"; }
  void declare(Options& options) override;
  [[nodiscard]] int failure_code() const override;
  int run(Context& context) override;

 private:
  std::string job_;
  std::vector<std::string> command_;
  std::string file_;
  bool force_ = false;
  bool accept_ = false;
};

}  // namespace zeus::cli
