// `zeus serve`: recurring jobs as a service. Main thread.
#pragma once

#include "cli/command.hpp"
#include "server/serve.hpp"

#include <string>

namespace zeus::cli {

class ServeCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "serve"; }
  [[nodiscard]] std::string summary() const override {
    return "Serve recurring jobs to other machines, until it is stopped";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  server::ServeSettings settings_;
  std::string pipeline_plan_;
  std::string metrics_per_job_ = "on";
  std::string log_level_ = "info";
};

}  // namespace zeus::cli
