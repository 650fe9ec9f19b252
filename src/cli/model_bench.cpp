#include "cli/model_bench.hpp"

#include "measure/devices.hpp"
#include "measure/windows.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <utility>

namespace zeus::cli {

namespace {

std::vector<serving::BenchGpu> named_gpus(const device::Inventory& inventory, const std::vector<int>& numbers) {
  const std::vector<device::DiscoveredGpu> visible = inventory.visible();
  std::vector<serving::BenchGpu> gpus;
  for (const int number : numbers) {
    const device::GpuIdentity& identity = visible.at(static_cast<std::size_t>(number)).gpu->identity();
    gpus.push_back({.index = number, .uuid = identity.uuid, .name = identity.name});
  }
  return gpus;
}

}  // namespace

ModelBench::ModelBench(Context& context, const device::Inventory& inventory, const std::vector<int>& gpus)
    : context_{&context},
      gpus_{named_gpus(inventory, gpus)},
      monitor_{measure::monitor_of(
          std::make_shared<measure::SamplerSource>(measure::visible_devices(inventory), context.clock),
          {.gpus = gpus, .cpus = std::vector<int>{}})},
      listening_{monitor_.listen()},
      signals_{SIGINT, SIGTERM, SIGHUP} {
}

serving::BenchRun ModelBench::run(const serving::HttpPlan& plan, std::vector<serving::Prompt> prompts,
                                  serving::BenchResult& result, WorkingLine& line, const std::string& prefix,
                                  const std::function<void()>& meanwhile) {
  const std::size_t all = prompts.size();
  result.gpus = gpus_;
  serving::HttpTraffic traffic{plan, std::move(prompts), context_->clock};
  serving::BenchRun run = serving::run_bench(traffic, monitor_, context_->clock, [&](Instant until) {
    const auto progress = traffic.progress();
    line.show(
        fmt::format("{}{} of {} answers, {} in flight", prefix, progress.ended, all, progress.sent - progress.ended));
    if (meanwhile) {
      meanwhile();
    }
    return !signals_.wait_for(until - context_->clock.now());
  });
  put_figures(run, result);
  return run;
}

}  // namespace zeus::cli
