// The library, initialised: what all GPUs of one discovery share. Counted by its GPUs; the last one shuts the library
// down, unless it is in a forked child that never opened it. Threads: everything but reopen() from any thread; reopen()
// as device/gpu.hpp says.
#pragma once

#include "backends/nvml/functions.hpp"
#include "base/clock.hpp"
#include "base/dynamic_library.hpp"
#include "device/outcome.hpp"

#include <zeus/reading.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace zeus::backends::nvml {

// What a code other than success means for a reading, and for a setting.
Failure failure_of(abi::Code code);
Failure failure_of_setting(abi::Code code);

class Session {
 public:
  // `library` is what the functions came from, kept loaded; `clock` must outlive the session.
  Session(Functions functions, std::optional<DynamicLibrary> library, const Clock& clock)
      : functions_{functions}, library_{std::move(library)}, clock_{clock} {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Initialises the library; once, before anything else.
  abi::Code open();

  // Initialises it anew for a device that was opened under generation `seen`; nothing when another device has seen to
  // it.
  device::Outcome reopen(std::uint64_t seen);

  [[nodiscard]] const Functions& nvml() const { return functions_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  Functions functions_;
  std::optional<DynamicLibrary> library_;
  const Clock& clock_;
  std::int64_t opened_by_ = 0;  // the process that initialised the library; 0 when none has
  std::uint64_t generation_ = 0;
};

}  // namespace zeus::backends::nvml
