// `zeus simulate cluster`: many groups of recurring jobs that overlap, under one policy. Main thread only.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace zeus::cli {

class SimulateClusterCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "cluster"; }
  [[nodiscard]] std::string summary() const override { return "Replay a cluster of overlapping recurring jobs"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::string train_trace_;
  std::string power_trace_;
  std::vector<std::string> groups_;
  std::string generate_;
  double eta_ = 0.5;
  double beta_ = 2.0;
  std::string policy_;
  std::uint64_t seed_ = 1;
  bool json_ = false;
};

}  // namespace zeus::cli
