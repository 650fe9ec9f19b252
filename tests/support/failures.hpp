// The failure of an action, in this process or in another one: for tests of refusals.
#pragma once

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <string>

namespace zeus::test {

struct Failures {
  // The Error that `action` ends with.
  static Error failure_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing failed";
    return Error{ErrorKind::internal, ""};
  }

  // The same in another process: "conflict: GPU 0 is leased by ..."; empty if it succeeds there. One that dies there,
  // or fails an expectation, has failed here.
  static std::string failure_elsewhere(const std::function<void()>& action) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const bool had_failed = testing::Test::HasFailure();
    const pid_t child = ::fork();
    if (child == 0) {
      std::string said;
      try {
        action();
      } catch (const Error& error) {
        said = std::string{to_string(error.kind())} + ": " + error.what();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
      static_cast<void>(::write(ends[1], said.data(), said.size()));
      ::_exit(testing::Test::HasFailure() && !had_failed ? 1 : 0);
    }
    ::close(ends[1]);
    std::string said(4096, ' ');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], said.data(), said.size()), 0)));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "the other process";
    return said;
  }
};

}  // namespace zeus::test
