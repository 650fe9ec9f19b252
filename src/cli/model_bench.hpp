// Runs traffic while the GPUs of a server are measured, for the commands of `zeus llm`. Main thread only; signals end a
// run.
#pragma once

#include "base/signal_wait.hpp"
#include "cli/command.hpp"
#include "cli/working_line.hpp"
#include "device/inventory.hpp"
#include "serving/bench.hpp"
#include "serving/bench_result.hpp"
#include "serving/http_traffic.hpp"
#include "serving/prompts.hpp"

#include <zeus/measure.hpp>

#include <functional>
#include <string>
#include <vector>

namespace zeus::cli {

class ModelBench {
 public:
  // From now on, SIGINT, SIGTERM and SIGHUP end runs. The context and the inventory outlive it.
  ModelBench(Context& context, const device::Inventory& inventory, const std::vector<int>& gpus);

  // Returns the run, and puts its figures and the GPUs into `result`, which has the settings. `prefix` stands before
  // the progress on the line; `meanwhile` is called a few times a second, and ends the run by an Error.
  serving::BenchRun run(const serving::HttpPlan& plan, std::vector<serving::Prompt> prompts,
                        serving::BenchResult& result, WorkingLine& line, const std::string& prefix = {},
                        const std::function<void()>& meanwhile = {});
  [[nodiscard]] Monitor& monitor() { return monitor_; }
  [[nodiscard]] const std::vector<serving::BenchGpu>& gpus() const { return gpus_; }

 private:
  Context* context_;
  std::vector<serving::BenchGpu> gpus_;
  Monitor monitor_;
  Monitor::Listening listening_;
  SignalWait signals_;
};

}  // namespace zeus::cli
