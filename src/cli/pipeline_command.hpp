// `zeus pipeline`: makes frequency plans from measured instructions, or from any graph of computations.
#pragma once

#include "cli/command.hpp"
#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class PipelineCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "pipeline"; }
  [[nodiscard]] std::string summary() const override {
    return "Plan the clocks of pipeline training: the least energy for each iteration time";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  void declare_pipeline(Options& options);
  void check_usage() const;
  int show_measured(Context& context) const;
  [[nodiscard]] records::ComputationGraph read_graph(Watts blocking_power) const;
  [[nodiscard]] records::ComputationGraph read_schedule(Watts blocking_power) const;

  std::string profile_;
  std::string dag_;
  std::size_t stages_ = 0;
  std::size_t microbatches_ = 0;
  std::size_t chunks_ = 1;
  std::string schedule_;
  std::size_t data_parallel_ = 0;
  std::size_t tensor_parallel_ = 0;
  Watts blocking_power_{70};
  std::optional<Seconds> transfer_time_;
  std::optional<Seconds> unit_time_;
  std::string fit_ = "none";
  double margin_ = 0.0;
  std::vector<Seconds> at_;
  std::size_t points_ = 0;
  std::vector<std::string> measured_;
  std::string json_;
  std::string html_;
};

}  // namespace zeus::cli
