// AMD's GPUs, through ROCm's system management library, which is opened at run time. A back-end as in
// device/backend.hpp.
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
  // `clock` must outlive the back-end and its GPUs. `names` are possible names of the library, best first.
  explicit AmdsmiBackend(Clock& clock,
                         std::vector<std::string> names = {"libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24",
                                                           "libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"});

  [[nodiscard]] std::string_view name() const override { return "amdsmi"; }
  // Takes half a second if there are GPUs: their energy counters are watched before they are trusted.
  [[nodiscard]] device::Discovery discover() override;

 private:
  Clock& clock_;
  std::vector<std::string> names_;
};

// discover() in a library that is not open yet, without searching for the library.
device::Discovery discover_in(const std::shared_ptr<AmdsmiLibrary>& library);

}  // namespace zeus::backends::amdsmi
