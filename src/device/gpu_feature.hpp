// What a GPU may support, as data: back-ends probe each feature once, at discovery, and callers ask before they rely on
// it. Plain values; copy them freely between threads.
#pragma once

#include "device/outcome.hpp"

#include <zeus/reading.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace zeus::device {

enum class GpuFeature {
  energy_counter,
  instant_power,
  average_power,
  plain_power,
  module_instant_power,
  module_average_power,
  memory_average_power,
  power_samples,
  power_limits,
  clocks,
  supported_clocks,
  locked_clocks,
  temperature,
  utilization,
  throttle_reasons,
  throttle_times,
  persistence_mode,
  processes,
  mig,
};
inline constexpr std::size_t gpu_feature_count = static_cast<std::size_t>(GpuFeature::mig) + 1;

// "energy counter", for messages.
std::string_view to_string(GpuFeature feature);

// For each feature, whether the probe found it, and if not, why.
class GpuFeatures {
 public:
  // No feature is there until it is set.
  GpuFeatures() { outcomes_.fill(Reason::unsupported); }

  void set(GpuFeature feature, Outcome outcome) { outcomes_.at(static_cast<std::size_t>(feature)) = outcome; }
  // The result of a probe; the value itself does not matter.
  template <typename T>
  void probe(GpuFeature feature, const Reading<T>& reading) {
    set(feature, reading ? Outcome{done} : Outcome{reading.failure()});
  }

  [[nodiscard]] const Outcome& operator[](GpuFeature feature) const {
    return outcomes_.at(static_cast<std::size_t>(feature));
  }
  [[nodiscard]] bool has(GpuFeature feature) const { return static_cast<bool>((*this)[feature]); }

 private:
  std::array<Outcome, gpu_feature_count> outcomes_;
};

}  // namespace zeus::device
