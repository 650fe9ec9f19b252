// `zeus llm bench`: asks a served model, measures its GPUs meanwhile, and prints what a token and an answer take. Main
// thread only.
#pragma once

#include "cli/command.hpp"
#include "cli/served_model_options.hpp"
#include "serving/bench_result.hpp"
#include "serving/http_traffic.hpp"
#include "serving/prompts.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class LlmBenchCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "bench"; }
  [[nodiscard]] std::string summary() const override { return "Joules per token and per answer, rates and latencies"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  void check_usage() const;
  [[nodiscard]] std::vector<serving::Prompt> prompts(std::uint64_t seed) const;
  [[nodiscard]] serving::BenchResult settings(const Context& context, const ModelServer& server) const;
  [[nodiscard]] serving::HttpPlan plan(const ModelServer& server, const serving::BenchResult& settings) const;

  ServedModelOptions server_;
  std::string api_ = "chat";
  std::string prompts_;
  bool repeat_ = false;
  std::uint64_t prompt_words_ = 100;
  std::uint64_t max_tokens_ = 128;
  std::string ignore_eos_ = "auto";
  std::optional<std::uint64_t> seed_;
  std::uint64_t requests_ = 200;
  std::optional<std::uint64_t> in_flight_;
  std::optional<double> rate_;
  Seconds answer_time_{600};
  std::optional<std::string> json_;
};

}  // namespace zeus::cli
