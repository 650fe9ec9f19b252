// `zeus llm bench`: asks a served model, measures its GPUs meanwhile, and prints what a token and an answer take. Main
// thread only.
#pragma once

#include "cli/command.hpp"
#include "cli/served_model_options.hpp"
#include "cli/traffic_options.hpp"

#include <optional>
#include <string>

namespace zeus::cli {

class LlmBenchCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "bench"; }
  [[nodiscard]] std::string summary() const override { return "Joules per token and per answer, rates and latencies"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  ServedModelOptions server_;
  TrafficOptions traffic_;
  std::optional<std::string> json_;
  std::optional<std::string> ml_energy_;
  std::optional<double> parameters_;
};

}  // namespace zeus::cli
