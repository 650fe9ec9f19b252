#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace zeus::test {

namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string golden_difference(std::string_view name, std::string_view expected, std::string_view actual) {
  if (expected == actual) {
    return {};
  }
  std::size_t number = 1;
  while (!expected.empty() && !actual.empty()) {
    const std::string_view expected_line = take_line(expected);
    const std::string_view actual_line = take_line(actual);
    if (expected_line != actual_line) {
      std::ostringstream text;
      text << "tests/golden/" << name << ":" << number << " differs\n  golden: " << expected_line
           << "\n  actual: " << actual_line << "\nIf the change is meant, run `make golden` and review the diff";
      return text.str();
    }
    ++number;
  }
  std::ostringstream text;
  text << "tests/golden/" << name << ":" << number << " differs: one of them "
       << (expected.empty() && actual.empty() ? "lacks its last line feed" : "is longer")
       << "\nIf the change is meant, run `make golden` and review the diff";
  return text.str();
}

void expect_golden(std::string_view name, std::string_view actual) {
  const std::filesystem::path path = std::filesystem::path{ZEUS_GOLDEN_FOLDER} / name;
  if (std::getenv("ZEUS_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << actual;
    return;
  }
  std::ifstream file{path, std::ios::binary};
  ASSERT_TRUE(file) << "tests/golden/" << name << " does not exist; run `make golden` to make it";
  const std::string expected{std::istreambuf_iterator<char>{file}, {}};
  const std::string difference = golden_difference(name, expected, actual);
  EXPECT_TRUE(difference.empty()) << difference;
}

}  // namespace zeus::test
