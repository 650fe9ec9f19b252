// `zeus llm arena`: serves a page on which two models answer without their names, until it is stopped. Main thread
// only.
#pragma once

#include "cli/command.hpp"
#include "cli/served_model_options.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace zeus::cli {

class LlmArenaCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "arena"; }
  [[nodiscard]] std::string summary() const override {
    return "A page that compares the answers of two models, blind until voted";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::array<ServedModelOptions, 2> servers_{ServedModelOptions{"a"}, ServedModelOptions{"b"}};
  std::uint64_t max_tokens_ = 512;
  Seconds answer_time_{120};
  std::string listen_ = "127.0.0.1:8480";
  std::string votes_ = "votes.jsonl";
};

}  // namespace zeus::cli
