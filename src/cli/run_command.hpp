// `zeus run`: one recurrence of a job around any training command.
#pragma once

#include "cli/command.hpp"
#include "run/run_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class RunCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "run"; }
  [[nodiscard]] std::string summary() const override {
    return "Train with the batch size and power limit that cost least";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  void declare_job(Options& options);
  void declare_progress(Options& options);
  void declare_limits(Options& options);
  void declare_rest(Options& options);
  [[nodiscard]] run::RunOptions options() const;

  // What can be taken as it is; the members below need a look first.
  run::RunOptions plain_;
  std::optional<double> target_;
  bool higher_ = false;
  bool lower_ = false;
  std::string power_limits_ = "auto";
  std::string learning_rate_;
  std::string scaling_ = "linear";
  std::string observe_;
  double profile_seconds_ = 5;
  double grace_ = 10;
  std::string on_store_error_ = "continue";
  std::vector<int> gpus_;
};

}  // namespace zeus::cli
