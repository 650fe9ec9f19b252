// `zeus simulate paper`: the paper's evaluation replayed, as one HTML page or as JSON. Main thread only.
#pragma once

#include "cli/command.hpp"
#include "research/paper_study.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class SimulatePaperCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "paper"; }
  [[nodiscard]] std::string summary() const override {
    return "Replay the experiments of the Zeus paper as one HTML page";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  [[nodiscard]] research::PaperStudy study() const;

  std::string train_trace_;
  std::vector<std::string> power_traces_;
  std::string slices_;
  bool goodput_ = false;
  std::optional<std::string> html_;
  std::optional<std::string> json_;
  std::uint64_t seeds_ = 20;
  bool quiet_ = false;
};

}  // namespace zeus::cli
