// Whatever the visibility variables contain, the result names GPUs of the given vendor, each once, and every problem
// says what to do.

#include "device/visibility.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using zeus::DeviceProblem;
using zeus::Environment;
using zeus::GpuVendor;
using zeus::device::Visibility;
using zeus::device::VisibilityCandidate;
using zeus::device::VisibleGpu;

std::vector<VisibilityCandidate> six_gpus() {
  std::vector<VisibilityCandidate> candidates(6);
  const char* const uuids[] = {"GPU-aaaa0000", "GPU-aabb0000", "GPU-cccc0000",
                               "GPU-dddd0000", "GPU-eeee0000", "GPU-eeff0000"};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].identity.uuid = uuids[i];
    candidates[i].identity.index = static_cast<int>(i);
    candidates[i].identity.pci.bus = static_cast<std::uint32_t>(6 - i);
    candidates[i].identity.name = i == 1 ? "Fast" : "Slow";
    candidates[i].identity.relative_speed = i == 1 ? 2.0 : 1.0;
    candidates[i].identity.vendor = i < 4 ? GpuVendor::nvidia : GpuVendor::amd;
  }
  candidates[2].mig = {true, {{"MIG-1111", "1g", 1, 0}, {"MIG-1122", "2g", 2, 0}}};
  candidates[3].mig = {true, {}};
  return candidates;
}

void check_visible_gpus(GpuVendor vendor, const Environment& environment) {
  static const std::vector<VisibilityCandidate> candidates = six_gpus();
  const Visibility visibility = zeus::device::visible_gpus(candidates, vendor, environment);
  std::set<std::pair<std::size_t, std::string>> seen;
  for (const VisibleGpu& gpu : visibility.gpus) {
    const bool valid = gpu.candidate < candidates.size() && candidates[gpu.candidate].identity.vendor == vendor;
    if (!valid || !seen.emplace(gpu.candidate, gpu.slice.value_or("")).second) {
      std::abort();
    }
  }
  for (const DeviceProblem& problem : visibility.problems) {
    if (problem.device.empty() || problem.what.empty() || problem.fix.empty()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int fuzz_visibility(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  const std::size_t middle = text.find('\n');
  const std::string first = text.substr(0, middle);
  const std::string second = middle == std::string::npos ? "" : text.substr(middle + 1);
  check_visible_gpus(GpuVendor::nvidia, Environment{{{"CUDA_VISIBLE_DEVICES", first}, {"CUDA_DEVICE_ORDER", second}}});
  check_visible_gpus(GpuVendor::amd, Environment{{{"ROCR_VISIBLE_DEVICES", first}, {"HIP_VISIBLE_DEVICES", second}}});
  check_visible_gpus(GpuVendor::amd, Environment{{{"CUDA_VISIBLE_DEVICES", first}}});
  return 0;
}
