#include "device/gpu_feature.hpp"

namespace zeus::device {

namespace {

constexpr std::array<std::string_view, gpu_feature_count> feature_names{
    "energy counter",       "instant power",        "average power", "plain power",  "module instant power",
    "module average power", "memory average power", "power samples", "power limits", "clocks",
    "supported clocks",     "locked clocks",        "temperature",   "utilization",  "throttle reasons",
    "throttle times",       "persistence mode",     "processes",     "MIG",
};

}  // namespace

std::string_view to_string(GpuFeature feature) {
  return feature_names.at(static_cast<std::size_t>(feature));
}

}  // namespace zeus::device
