// The windows of a training's account, on the monitor of its GPUs. One thread; the GPUs outlive it.
#pragma once

#include "run/training_gpus.hpp"
#include "trial/energy_account.hpp"

#include <zeus/measure.hpp>

#include <string_view>

namespace zeus::run {

class GpuMeter final : public trial::Meter {
 public:
  explicit GpuMeter(const TrainingGpus& gpus) : gpus_{gpus} {}

  void begin(std::string_view window) override { gpus_.monitor().begin(window, true); }
  jobs::Try::Taken end(std::string_view window) override { return taken(gpus_.monitor().end(window)); }
  jobs::Try::Taken settle(std::string_view window) override;
  void cancel(std::string_view window) noexcept override;

 private:
  [[nodiscard]] jobs::Try::Taken taken(const Measurement& measurement) const;

  const TrainingGpus& gpus_;
};

}  // namespace zeus::run
