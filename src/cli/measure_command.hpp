// `zeus measure`: runs a command and prints how much energy the machine used meanwhile, in the manner of `perf stat`.
#pragma once

#include "cli/command.hpp"
#include "cli/rate_options.hpp"

#include <zeus/measure.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class MeasureCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "measure"; }
  [[nodiscard]] std::string summary() const override { return "Run a command and measure the energy it takes"; }
  void declare(Options& options) override;
  [[nodiscard]] int failure_code() const override;
  int run(Context& context) override;

 private:
  struct Run {
    Measurement measurement;
    int exit_code = 0;
    std::optional<std::string> why_not_run;
  };

  Run run_once(Monitor& monitor, const Context& context) const;

  std::uint64_t runs_ = 1;
  std::vector<std::string> gpus_;
  std::vector<int> cpus_;
  std::optional<std::string> json_;
  RateFlags rates_;
  std::vector<std::string> command_;
};

}  // namespace zeus::cli
