// The library, initialised: what all GPUs of one discovery share. Counted by its GPUs; the last one shuts the library
// down, unless it is in a forked child that never opened it. Threads: everything but open() and reopen() from any
// thread, those as device/gpu.hpp says of reopen(). Before its version 26.2 the library is not safe to call from
// several threads at once (its energy counter goes backwards), so calls are made one at a time there.
#pragma once

#include "backends/amdsmi/functions.hpp"
#include "base/clock.hpp"
#include "base/dynamic_library.hpp"
#include "device/outcome.hpp"

#include <zeus/reading.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace zeus::backends::amdsmi {

// What a code other than success means for a reading, and for a setting.
Failure failure_of(abi::Code code);
Failure failure_of_setting(abi::Code code);

inline constexpr Failure call_missing{Reason::unsupported, "the driver's library is too old for this"};

class Session {
 public:
  // `library` is what the functions came from, kept loaded; `clock` must outlive the session.
  Session(Functions functions, std::optional<DynamicLibrary> library, Clock& clock)
      : functions_{functions}, library_{std::move(library)}, clock_{clock} {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Initialises the library; once, before anything else.
  abi::Code open();

  // Initialises it anew for a device that was opened under generation `seen`; nothing when another device has seen to
  // it.
  device::Outcome reopen(std::uint64_t seen);

  // function(arguments...) with the library's rules about threads kept. A call that is missing is not supported.
  template <typename Function, typename... Arguments>
  abi::Code call(Function* function, Arguments... arguments) {
    if (function == nullptr) {
      return abi::Code::not_supported;
    }
    if (safe_for_threads_) {
      return function(arguments...);
    }
    const std::lock_guard lock{mutex_};
    return function(arguments...);
  }

  // All GPUs, in the library's order.
  std::vector<abi::Processor*> gpus();

  [[nodiscard]] const Functions& amdsmi() const { return functions_; }
  [[nodiscard]] Clock& clock() const { return clock_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] const abi::Version& version() const { return version_.value; }

 private:
  Functions functions_;
  std::optional<DynamicLibrary> library_;
  Clock& clock_;
  std::mutex mutex_;
  WithRoom<abi::Version> version_;
  bool safe_for_threads_ = false;
  std::int64_t opened_by_ = 0;  // the process that initialised the library; 0 when none has
  std::uint64_t generation_ = 0;
};

}  // namespace zeus::backends::amdsmi
