// The options that say what a served model is asked, and how: for the commands of `zeus llm` that measure. Main thread
// only.
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

class TrafficOptions {
 public:
  void declare(Options& options);
  // Throws BadUsage.
  void check() const;

  // A result with the settings of a run, and no figures yet.
  [[nodiscard]] serving::BenchResult settings(const Context& context, const ModelServer& server) const;
  [[nodiscard]] serving::HttpPlan plan(const ModelServer& server, const serving::BenchResult& settings) const;
  // One for each request of the settings. Those of a file begin after the first `skipped`, which other runs have used.
  [[nodiscard]] std::vector<serving::Prompt> prompts(const serving::BenchResult& settings,
                                                     std::uint64_t skipped = 0) const;
  // Whether there are so many.
  [[nodiscard]] bool has_prompts(const serving::BenchResult& settings, std::uint64_t skipped) const;

 private:
  [[nodiscard]] std::vector<serving::Prompt> prompts_of_file(serving::Route route, std::uint64_t most) const;

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
};

}  // namespace zeus::cli
