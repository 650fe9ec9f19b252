// One run of the program `zeus` within a test: how it ended and what it printed.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "cli/program.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace zeus::test {

struct ProgramRun {
  int code = 0;
  std::string out;
  std::string err;
};

// Of a program that has these commands alone, on a virtual clock, in an empty environment.
inline ProgramRun run_program(const cli::Commands& commands, const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  VirtualClock clock;
  const Environment environment;
  cli::Context context{out, err, clock, environment};
  const int code = cli::run_program("1.2.3", commands, arguments, context);
  return {code, out.str(), err.str()};
}

}  // namespace zeus::test
