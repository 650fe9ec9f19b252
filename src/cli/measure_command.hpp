// `zeus measure`: runs a command and prints how much energy the machine used meanwhile, in the manner of `perf stat`.
#pragma once

#include "cli/command.hpp"
#include "cli/rate_options.hpp"

#include <zeus/measure.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
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
    bool asked_to_end = false;  // by a signal to this process
    std::optional<std::string> why_not_run;
  };

  // `earlier`: the children that this process had before.
  Run run_once(Monitor& monitor, const Context& context, std::span<const pid_t> earlier) const;

  std::uint64_t runs_ = 1;
  std::vector<std::string> gpus_;
  std::vector<int> cpus_;
  std::optional<std::string> json_;
  RateFlags rates_;
  std::vector<std::string> command_;
};

}  // namespace zeus::cli
