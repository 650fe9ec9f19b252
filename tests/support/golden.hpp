// Golden files: what the project prints, serves or stores, compared with a file under tests/golden that a reviewer has
// read. A test calls expect_golden; `make golden` (ZEUS_UPDATE_GOLDEN=1) writes the files again, and the review reads
// the diff.
#pragma once

#include <string>
#include <string_view>

namespace zeus::test {

// Fails the running test, showing the first line that differs, unless tests/golden/<name> holds exactly `actual`.
void expect_golden(std::string_view name, std::string_view actual);

// What expect_golden would say: empty when they agree. `first difference` is by line, with the way to accept it.
std::string golden_difference(std::string_view name, std::string_view expected, std::string_view actual);

}  // namespace zeus::test
