// Virtual GPUs in this process, on the caller's clock. A back-end as in device/backend.hpp.
#pragma once

#include "backends/virtual/virtual_gpu.hpp"
#include "base/clock.hpp"
#include "device/backend.hpp"
#include "physics/gpu_model.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace zeus::backends::virtual_gpu {

class VirtualBackend final : public device::Backend {
 public:
  // `clock` outlives the back-end and its GPUs. The list of GPUs never changes.
  VirtualBackend(Clock& clock, std::span<const physics::GpuModel> models);

  [[nodiscard]] std::string_view name() const override { return "virtual"; }
  [[nodiscard]] device::Discovery discover() override;

  // For callers that load a GPU, ask for its true values or break it; at() refuses an index out of range.
  [[nodiscard]] VirtualGpu& gpu(std::size_t index) { return *gpus_.at(index); }
  [[nodiscard]] std::size_t size() const { return gpus_.size(); }

 private:
  std::vector<std::shared_ptr<VirtualGpu>> gpus_;
};

}  // namespace zeus::backends::virtual_gpu
