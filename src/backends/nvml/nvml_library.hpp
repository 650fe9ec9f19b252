// NVIDIA's management library as a VendorLibrary (backends/vendor/vendor_library.hpp, which says who may call what).
#pragma once

#include "backends/nvml/functions.hpp"
#include "backends/vendor/vendor_library.hpp"
#include "base/clock.hpp"

#include <zeus/reading.hpp>

namespace zeus::backends::nvml {

struct Api {
  using Functions = nvml::Functions;
  using Code = abi::Code;
  using Clock = const zeus::Clock;
  template <typename Value>
  struct Answer {
    Value value{};
  };

  static constexpr const char* driver_name = "NVIDIA driver";
  static constexpr const char* reinstalling =
      "reinstall NVIDIA's driver, and check LD_LIBRARY_PATH for another library of that name";

  static Functions load_functions(const DynamicLibrary& library) { return nvml::load_functions(library); }
  static Code initialise(const Functions& functions) { return functions.init(); }
  static void shut_down(const Functions& functions) { functions.shutdown(); }
  static Failure failure_of(Code code);
  static Failure failure_of_setting(Code code);
  static DeviceProblem library_absence();
};

class NvmlLibrary final : public VendorLibrary<Api> {
 public:
  using VendorLibrary::VendorLibrary;
};

}  // namespace zeus::backends::nvml
