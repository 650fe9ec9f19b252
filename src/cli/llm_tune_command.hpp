// `zeus llm tune`: the power limit or clock at which a served model takes the least energy while latencies stay within
// bounds. Main thread only.
#pragma once

#include "cli/command.hpp"
#include "cli/model_bench.hpp"
#include "cli/served_model_options.hpp"
#include "cli/traffic_options.hpp"
#include "device/inventory.hpp"
#include "serving/bench_result.hpp"
#include "serving/latency_bound.hpp"
#include "serving/tuning.hpp"
#include "train/gpu_group.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class LlmTuneCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "tune"; }
  [[nodiscard]] std::string summary() const override {
    return "The limit or clock of least energy within latency bounds";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  serving::Ended measure(Context& context, const ModelServer& server, ModelBench& bench, train::GpuGroup& gpus,
                         const std::vector<serving::LatencyBound>& bounds, serving::Tuning& tuning) const;

  ServedModelOptions server_;
  TrafficOptions traffic_;
  std::string bounds_;
  std::uint64_t steps_ = 8;
  std::optional<std::string> json_;
};

}  // namespace zeus::cli
