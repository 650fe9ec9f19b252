// `zeus run`: one recurrence of a job around any training command.
#pragma once

#include "cli/command.hpp"
#include "cli/rate_options.hpp"
#include "run/job_settings.hpp"
#include "run/run_options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::cli {

class RunCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "run"; }
  [[nodiscard]] std::string summary() const override {
    return "Train with the batch size and power limit that cost least";
  }
  void declare(Options& options) override;
  [[nodiscard]] int failure_code() const override;
  int run(Context& context) override;

 private:
  void declare_job(Options& options);
  void declare_goal(Options& options);
  void declare_progress(Options& options);
  void declare_limits(Options& options);
  void declare_rest(Options& options);
  // NAME of @NAME; empty if the user named no job file.
  [[nodiscard]] std::string_view job_name() const;
  // The settings from the flags and the command alone.
  [[nodiscard]] run::JobSettings said() const;
  void choose_where(run::JobSettings& settings, const Context& context) const;
  // The same, completed by the job file that was named.
  [[nodiscard]] run::RunOptions options(const Context& context) const;

  // Settings that need no conversion; those in the members below do.
  run::JobSettings plain_;
  std::vector<std::string> words_;         // before the two dashes
  std::vector<std::string> after_dashes_;  // the command
  std::string file_;
  bool higher_ = false;
  bool lower_ = false;
  std::string power_limits_;
  std::vector<std::string> gpus_;
  std::string learning_rate_;
  std::string scaling_;
  std::string observe_;
  RateFlags rates_;
  std::optional<std::string> json_;
  std::string color_ = "auto";
  std::string on_store_error_;
};

}  // namespace zeus::cli
