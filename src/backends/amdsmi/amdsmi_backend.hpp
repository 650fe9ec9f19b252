// AMD's GPUs, through the system management library of ROCm, opened at run time. A back-end as device/backend.hpp says.
#pragma once

#include "base/clock.hpp"
#include "device/backend.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zeus::backends::amdsmi {

class AmdsmiLibrary;

class AmdsmiBackend final : public device::Backend {
 public:
  // `clock` must outlive the back-end and its GPUs. `names` are what the library may be called, best first.
  explicit AmdsmiBackend(Clock& clock,
                         std::vector<std::string> names = {"libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24",
                                                           "libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"});

  [[nodiscard]] std::string_view name() const override { return "amdsmi"; }
  // Takes half a second where there are GPUs: their energy counters are watched before they are believed.
  [[nodiscard]] device::Discovery discover() override;

 private:
  Clock& clock_;
  std::vector<std::string> names_;
};

// What a library that has not been opened yet finds: discover() without the search for the library.
device::Discovery discover_in(const std::shared_ptr<AmdsmiLibrary>& library);

}  // namespace zeus::backends::amdsmi
