// A client of a virtual driver: the built library, opened at run time, with the session that it finds. A process has
// one session, so a test program has one of these. Calls from any thread.
#pragma once

#include "base/dynamic_library.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/session.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace zeus::test {

struct DriverClient {
  DriverClient(std::string_view gpus, const std::string& file)
      : session{drivers::Session::create(
            {.gpus = drivers::parse_gpus(gpus), .spec = "", .name = {}, .table = {}, .faults = {}}, clock)},
        library{open(session, file)} {}

  // The result of an entry point; `missing` if the library has none of that name.
  template <typename Code, typename... Arguments>
  Code call(Code missing, const char* name, Arguments... arguments) {
    auto* const function = library.function<Code(Arguments...)>({name});
    return function == nullptr ? missing : function(arguments...);
  }

  SystemClock clock;
  drivers::Session session;
  DynamicLibrary library;

 private:
  static DynamicLibrary open(const drivers::Session& session, const std::string& file) {
    ::setenv(drivers::session_variable, session.reference().c_str(), 1);
    return *DynamicLibrary::open({&file, 1});
  }
};

}  // namespace zeus::test
