#include "backends/virtual/virtual_backend.hpp"

#include <fmt/format.h>

namespace zeus::backends::virtual_gpu {

VirtualBackend::VirtualBackend(Clock& clock, std::span<const physics::GpuModel> models) {
  const auto host = std::make_shared<Host>(clock);
  for (const physics::GpuModel& model : models) {
    gpus_.push_back(std::make_shared<VirtualGpu>(host, model, static_cast<int>(gpus_.size())));
  }
}

device::Discovery VirtualBackend::discover() {
  device::Discovery found;
  for (const std::shared_ptr<VirtualGpu>& gpu : gpus_) {
    found.gpus.push_back({.gpu = gpu, .control = gpu});
  }
  if (gpus_.empty()) {
    found.absence = DeviceProblem{.device = "virtual GPUs", .what = "none were asked for", .fix = "name some models"};
  } else {
    found.summary = fmt::format("{} virtual GPUs", gpus_.size());
  }
  return found;
}

}  // namespace zeus::backends::virtual_gpu
