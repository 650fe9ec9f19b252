// `zeus simulate job`: one recurring job under one policy, many seeds. Main thread only.
#pragma once

#include "base/environment.hpp"
#include "cli/command.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/stage.hpp"
#include "simulate/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::cli {

class SimulateJobCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "job"; }
  [[nodiscard]] std::string summary() const override { return "Replay one recurring job under a policy"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  // The job, and what changes at a recurrence, if anything does.
  struct Course {
    simulate::Workload before;
    simulate::Workload after;
    std::optional<std::uint64_t> at;
    std::string device;  // the one it moves to; empty if its data drifts
  };

  void declare_job(Options& options);
  // `gpu` is a power trace, or the name of a GPU model with a built-in workload.
  [[nodiscard]] simulate::Workload workload_on(const std::string& gpu) const;
  [[nodiscard]] Course course() const;
  // `last` is the stage at the end, and outlives the factory. A program is started here, once for all seeds.
  static simulate::PolicyFactory factory(const std::string& policy, const simulate::Stage& last,
                                         const Environment& environment);
  [[nodiscard]] simulate::SimulationOptions options(const simulate::Workload& workload) const;

  std::string train_trace_;
  std::string power_trace_;
  std::string dataset_;
  std::string network_;
  std::string optimizer_;
  std::optional<double> target_metric_;
  int max_epochs_ = 0;
  int default_batch_size_ = 0;
  double eta_ = 0.5;
  double beta_ = 2.0;
  std::string policy_;
  std::size_t window_ = 0;
  std::string workload_;
  std::string gpu_;
  std::string drift_;
  std::string move_;
  int in_flight_ = 1;
  int gpus_ = 1;
  std::string recurrences_ = "auto";
  std::uint64_t seeds_ = 1;
  std::uint64_t first_seed_ = 1;
  bool json_ = false;
};

}  // namespace zeus::cli
