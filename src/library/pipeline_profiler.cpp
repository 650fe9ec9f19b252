// Measures instructions on this machine's GPUs, with their clocks under a lease.
#include "library/leased_clock.hpp"
#include "library/machine.hpp"
#include "pacing/instruction_profiler.hpp"

#include <zeus/measure.hpp>
#include <zeus/pipeline.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace zeus {

namespace {

constexpr std::string_view profile_window = "pipeline profile";

class LeasedProfile final : public pacing::ProfiledGpu {
 public:
  explicit LeasedProfile(int gpu) : number_{gpu}, clock_{gpu}, monitor_{only(gpu)} {}

  [[nodiscard]] std::vector<Megahertz> clocks() override { return clock_.supported(); }
  void lock(Megahertz clock) override {
    clock_.renew();
    clock_.lock(clock);
  }
  void begin_window() override { monitor_.begin(profile_window, true); }
  pacing::MeteredWindow end_window() override {
    const Measurement settled = monitor_.settle(monitor_.end(profile_window));
    const MeasuredEnergy& measured = settled.gpu_energy.at(number_);
    if (!measured.energy) {
      return {.energy = std::nullopt,
              .uncertainty = {},
              .reason = fmt::format("the energy of GPU {} is unknown: {}", number_, measured.reason)};
    }
    return {.energy = measured.energy->value, .uncertainty = measured.energy->uncertainty, .reason = {}};
  }
  void put_back() override { clock_.put_back(); }

 private:
  static MonitorOptions only(int gpu) {
    MonitorOptions options;
    options.gpus = {gpu};
    options.cpus = std::vector<int>{};
    return options;
  }

  int number_;
  library::LeasedClock clock_;
  Monitor monitor_;
};

std::unique_ptr<pacing::InstructionProfiler> profiler_of(const PipelineProfilerOptions& options) {
  (void)library::numbered_gpu(options.gpu);
  return std::make_unique<pacing::InstructionProfiler>(
      [&options] { return std::make_unique<LeasedProfile>(options.gpu); }, library::this_machine().clock,
      options.window);
}

}  // namespace

PipelineProfiler::PipelineProfiler(const Options& options) : PipelineProfiler{profiler_of(options)} {
}

}  // namespace zeus
