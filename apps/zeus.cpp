// The `zeus` program: chooses the real clock, the real environment and the back-ends, and lists the commands.

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "cli/program.hpp"

#include <zeus/version.hpp>

#include <iostream>

int main(int argc, char** argv) {
  zeus::SystemClock clock;
  const zeus::Environment environment = zeus::Environment::of_process();
  zeus::cli::Context context{std::cout, std::cerr, clock, environment};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const zeus::cli::Commands commands;
  return zeus::cli::run_program(zeus::version(), commands, arguments, context);
}
