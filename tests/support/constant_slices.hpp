// A program's own slice meter, which always reports 100 W for each of four GPUs. One thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/slice_meter.hpp>
#include <zeus/units.hpp>

#include <vector>

namespace zeus::test {

class ConstantSlices final : public SliceMeter {
 public:
  ConstantSlices(Clock& clock, Seconds shortest) : clock_{clock}, shortest_{shortest} {}

  void begin(const PowerSetting& setting) override {
    limits.push_back(setting.limit);
    began_ = clock_.now();
  }
  MeasuredSlice end() override {
    MeasuredSlice slice{.time = clock_.now() - began_, .gpu_energy = {}};
    for (int gpu = 0; gpu < 4; ++gpu) {
      slice.gpu_energy[gpu].energy = Energy{.value = 100_W * slice.time, .uncertainty = {}, .systematic = {}};
    }
    return slice;
  }
  void cancel() override {}
  [[nodiscard]] Seconds shortest() const override { return shortest_; }

  std::vector<Watts> limits;

 private:
  Clock& clock_;
  Seconds shortest_;
  Instant began_;
};

}  // namespace zeus::test
