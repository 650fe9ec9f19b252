#include "setter/link/absent_gpu.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

namespace zeus::setter {

namespace {

class AbsentGpu final : public device::Gpu {
 public:
  AbsentGpu(GpuVendor vendor, int index) {
    identity_.vendor = vendor;
    identity_.uuid = fmt::format("absent-{}", index);
    identity_.index = index;
    identity_.name = "a GPU that cannot be opened";
    features_.set(device::GpuFeature::energy_counter, device::done);
    features_.set(device::GpuFeature::plain_power, device::done);
  }

  [[nodiscard]] const device::GpuIdentity& identity() const override { return identity_; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return features_; }
  [[nodiscard]] Reading<device::Stamped<Joules>> energy() const override { return Reason::lost; }
  [[nodiscard]] Reading<device::Stamped<Watts>> power(PowerKind /*kind*/, PowerScope /*scope*/) const override {
    return Reason::lost;
  }
  [[nodiscard]] PowerLimits power_limits() const override {
    return {Reason::lost, Reason::lost, Reason::lost, Reason::lost, Reason::lost};
  }
  [[nodiscard]] Reading<bool> persistence_mode() const override { return Reason::lost; }
  [[nodiscard]] device::Outcome reopen() override { return Reason::lost; }
  [[nodiscard]] std::uint64_t generation() const override { return 0; }

 private:
  device::GpuIdentity identity_;
  device::GpuFeatures features_;
};

}  // namespace

std::vector<device::DiscoveredGpu> with_absent_gpus(std::vector<device::DiscoveredGpu> gpus) {
  std::vector<device::DiscoveredGpu> all;
  std::map<GpuVendor, int> next;
  for (device::DiscoveredGpu& gpu : gpus) {
    const device::GpuIdentity& identity = gpu.gpu->identity();
    int& expected = next[identity.vendor];
    for (; expected < identity.index; ++expected) {
      all.push_back({std::make_shared<AbsentGpu>(identity.vendor, expected), nullptr});
    }
    ++expected;
    all.push_back(std::move(gpu));
  }
  return all;
}

bool is_absent(const device::Gpu& gpu) {
  return dynamic_cast<const AbsentGpu*>(&gpu) != nullptr;
}

}  // namespace zeus::setter
