// The conformance suite: the promises of every back-end, checked by the same tests on each.
//
//   conformance_suite nvml|amdsmi|rapl|virtual|zeusd|zeusd_tcp [--tree FOLDER] [--set]      and any flag of GoogleTest
//
// --tree reads a recorded /sys instead of the real one; --set also tries settings, and puts the original ones back.

#include "tests/conformance/subject.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

// A filter for the subject's features, so that tests which can never run are not listed as skipped.
std::string applicable(const zeus::conformance::Subject& subject) {
  std::string filter = "-Nothing";
  filter += subject.found.gpus.empty() ? ":Gpu*" : "";
  filter += subject.found.cpus.empty() ? ":Cpu*" : "";
  filter += subject.may_set ? "" : ":GpuControl*";
  filter += subject.is_remote ? ":*.HotReadingsDoNotAllocate" : "";
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  zeus::conformance::Choice choice;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--set") {
      choice.may_set = true;
    } else if (arguments[i] == "--tree" && i + 1 < arguments.size()) {
      choice.folder = arguments[++i];
    } else {
      choice.backend = arguments[i];
    }
  }
  try {
    zeus::conformance::choose_subject(choice);
  } catch (const zeus::Error& error) {
    std::cerr << "conformance: " << error.what() << '\n';
    return 2;
  }
  const zeus::device::Discovery& found = zeus::conformance::subject().found;
  for (const zeus::DeviceProblem& problem : found.problems) {
    std::cerr << problem.device << ": " << problem.what << '\n';
  }
  if (found.gpus.empty() && found.cpus.empty()) {
    std::cout << "conformance: skipped, " << choice.backend << " finds no device here\n";
    return 0;
  }
  if (GTEST_FLAG_GET(filter) == "*") {
    GTEST_FLAG_SET(filter, applicable(zeus::conformance::subject()));
  }
  const int result = RUN_ALL_TESTS();
  zeus::conformance::leave_subject();
  return result;
}
