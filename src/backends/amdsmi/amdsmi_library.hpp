// AMD's system management library as a VendorLibrary (backends/vendor/vendor_library.hpp, which says who may call
// what). Before version 26.2 the library is not safe to call from several threads at once (its energy counter goes
// backwards), so for those versions calls are made one at a time.
#pragma once

#include "backends/amdsmi/functions.hpp"
#include "backends/vendor/vendor_library.hpp"
#include "base/clock.hpp"

#include <zeus/reading.hpp>

#include <cstdint>
#include <vector>

namespace zeus::backends::amdsmi {

// A structure for the library to fill, with room for what newer versions append to it.
template <typename Value>
struct WithRoom {
  Value value{};
  std::uint64_t more[64] = {};
};

struct Api {
  using Functions = amdsmi::Functions;
  using Code = abi::Code;
  using Clock = zeus::Clock;
  template <typename Value>
  using Answer = WithRoom<Value>;

  static constexpr const char* driver_name = "AMD driver";
  static constexpr const char* reinstalling =
      "reinstall ROCm, and check LD_LIBRARY_PATH for another library of that name";

  static Functions load_functions(const DynamicLibrary& library) { return amdsmi::load_functions(library); }
  static Code initialise(const Functions& functions) { return functions.init(abi::init_gpus); }
  static void shut_down(const Functions& functions) { functions.shut_down(); }
  static Failure failure_of(Code code);
  static Failure failure_of_setting(Code code);
  static DeviceProblem library_absence();
};

class AmdsmiLibrary final : public VendorLibrary<Api> {
 public:
  using VendorLibrary::VendorLibrary;

  // Initialises the library and asks for its version; call it once, before anything else.
  Code open();

  // All GPUs, in the library's order.
  [[nodiscard]] std::vector<abi::Processor*> gpus() const;
  [[nodiscard]] const abi::Version& version() const { return version_; }

 private:
  abi::Version version_{};
};

}  // namespace zeus::backends::amdsmi
