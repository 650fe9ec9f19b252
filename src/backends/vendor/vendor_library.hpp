// A vendor's management library, loaded and initialised: all GPUs of one discovery share it. The last GPU that goes
// shuts the library down, except in a forked child that never opened it. Threads: any, except for open() and reopen(),
// which follow the rules of reopen() in device/gpu.hpp. NVIDIA's library starts a thread when it is initialised. That
// thread must handle no signals: it would take SIGCHLD and SIGTERM from a program that waits for them.
//
// An Api is what differs between vendors:
//   Functions: the calls as a table; load_functions(library) fills it, its usable() says whether it is enough;
//   Code: what calls return, with Code::success and Code::not_supported;
//   Clock: what its GPUs need to know the time: Clock or const Clock;
//   Answer<Value>: the `value` that a call fills, with the room that it needs;
//   initialise(functions) and shut_down(functions);
//   failure_of(code) and failure_of_setting(code): what a code other than success means for a reading and a setting;
//   driver_name, library_absence() and reinstalling: for messages if a machine lacks the library or has a wrong one.
#pragma once

#include "backends/vendor/calls.hpp"
#include "base/background_thread.hpp"
#include "base/dynamic_library.hpp"
#include "device/backend.hpp"
#include "device/outcome.hpp"

#include <zeus/reading.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::backends {

template <typename Vendor>
class VendorLibrary {
 public:
  using Api = Vendor;
  using Code = typename Api::Code;
  using Functions = typename Api::Functions;
  using Clock = typename Api::Clock;

  // `library` is what the functions came from, and is kept loaded; `clock` must outlive this.
  VendorLibrary(Functions functions, std::optional<DynamicLibrary> library, Clock& clock)
      : functions_{functions}, library_{std::move(library)}, clock_{clock} {}
  VendorLibrary(const VendorLibrary&) = delete;
  VendorLibrary& operator=(const VendorLibrary&) = delete;
  ~VendorLibrary() { close(); }

  // Initialises the library; call it once, before anything else.
  Code open() {
    const Code code = Api::initialise(functions_);
    opened_by_ = code == Code::success ? ::getpid() : 0;
    return code;
  }

  // Initialises it again for a device that was opened under generation `seen`; does nothing if another device has done
  // so.
  device::Outcome reopen(std::uint64_t seen) {
    if (seen != generation_) {
      return device::done;
    }
    Code code{};
    without_signals([&] {
      close();
      code = open();
    });
    if (code != Code::success) {
      return Api::failure_of(code);
    }
    ++generation_;
    return device::done;
  }

  // Calls function(arguments...) by the library's thread rules. A missing call is not supported.
  template <typename Function, typename... Arguments>
  Code call(Function* function, Arguments... arguments) const {
    if (function == nullptr) {
      return Code::not_supported;
    }
    if (!one_at_a_time_) {
      return function(arguments...);
    }
    const std::lock_guard lock{mutex_};
    return function(arguments...);
  }

  // The same for function(arguments..., &value), as a reading of that value.
  template <typename Value, typename Function, typename... Arguments>
  Reading<Value> ask(Function* function, Arguments... arguments) const {
    if (function == nullptr) {
      return call_missing;
    }
    typename Api::template Answer<Value> answer;
    if (const Code code = call(function, arguments..., &answer.value); code != Code::success) {
      return Api::failure_of(code);
    }
    return answer.value;
  }

  // The same for a function that sets something, as its outcome.
  template <typename Function, typename... Arguments>
  device::Outcome tell(Function* function, Arguments... arguments) const {
    if (function == nullptr) {
      return call_missing;
    }
    const Code code = call(function, arguments...);
    return code == Code::success ? device::Outcome{device::done} : Api::failure_of_setting(code);
  }

  [[nodiscard]] const Functions& functions() const { return functions_; }
  [[nodiscard]] Clock& clock() const { return clock_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 protected:
  // From now on, calls are made one at a time.
  void call_one_at_a_time() { one_at_a_time_ = true; }

 private:
  void close() {
    if (opened_by_ == ::getpid()) {
      Api::shut_down(functions_);
    }
  }

  Functions functions_;
  std::optional<DynamicLibrary> library_;
  Clock& clock_;
  mutable std::mutex mutex_;
  bool one_at_a_time_ = false;
  std::int64_t opened_by_ = 0;  // the process that initialised the library; 0 if none has
  std::uint64_t generation_ = 0;
};

// What discover_in() finds in a Library (a VendorLibrary). If there is none, or it is not the vendor's, the result says
// so.
template <typename Library>
device::Discovery discover_loaded(std::optional<DynamicLibrary> library, typename Library::Clock& clock) {
  device::Discovery found;
  if (!library) {
    found.absence = Library::Api::library_absence();
    return found;
  }
  const typename Library::Functions functions = Library::Api::load_functions(*library);
  if (!functions.usable()) {
    found.problems.push_back({Library::Api::driver_name,
                              fmt::format("its library {} lacks calls that every version has had", library->name()),
                              Library::Api::reinstalling});
    return found;
  }
  return discover_in(std::make_shared<Library>(functions, std::move(library), clock));
}

// The same for the first library that has one of these names, best first.
template <typename Library>
device::Discovery discover_by_name(const std::vector<std::string>& names, typename Library::Clock& clock) {
  device::Discovery found;
  without_signals([&] { found = discover_loaded<Library>(DynamicLibrary::open(names), clock); });
  return found;
}

}  // namespace zeus::backends
