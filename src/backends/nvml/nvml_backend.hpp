// NVIDIA's GPUs, through the management library of their driver, which is opened at run time. A back-end as in
// device/backend.hpp.
#pragma once

#include "backends/nvml/functions.hpp"
#include "base/clock.hpp"
#include "device/backend.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zeus::backends::nvml {

class NvmlLibrary;

class NvmlBackend final : public device::Backend {
 public:
  // `clock` must outlive the back-end and its GPUs. `names` are possible names of the library, best first.
  explicit NvmlBackend(const Clock& clock, std::vector<std::string> names = {"libnvidia-ml.so.1", "libnvidia-ml.so"});

  [[nodiscard]] std::string_view name() const override { return "nvml"; }
  [[nodiscard]] device::Discovery discover() override;

 private:
  const Clock& clock_;
  std::vector<std::string> names_;
};

// discover() in a library that is not open yet, without searching for the library.
device::Discovery discover_in(const std::shared_ptr<NvmlLibrary>& library);

}  // namespace zeus::backends::nvml
