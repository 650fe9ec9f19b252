#include "device/gpu.hpp"

namespace zeus::device {

std::optional<GpuFeature> power_feature(PowerKind kind, PowerScope scope) {
  switch (scope) {
    case PowerScope::gpu:
      return kind == PowerKind::instant   ? GpuFeature::instant_power
             : kind == PowerKind::average ? GpuFeature::average_power
                                          : GpuFeature::plain_power;
    case PowerScope::module:
      return kind == PowerKind::instant   ? std::optional{GpuFeature::module_instant_power}
             : kind == PowerKind::average ? std::optional{GpuFeature::module_average_power}
                                          : std::nullopt;
    case PowerScope::memory:
      return kind == PowerKind::average ? std::optional{GpuFeature::memory_average_power} : std::nullopt;
    case PowerScope::package:
      break;
  }
  return std::nullopt;
}

}  // namespace zeus::device
