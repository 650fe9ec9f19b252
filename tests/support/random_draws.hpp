// Ten thousand draws of every kind as text with all their bits, to compare between compilers, machines and golden
// files.
#pragma once

#include "base/random.hpp"

#include <cstdio>
#include <string>

namespace zeus::test {

inline std::string random_draws() {
  std::string text;
  Random random{20230417, 3, 1};
  for (int i = 0; i < 2500; ++i) {
    // One draw per statement, because the compiler chooses the order in which arguments are evaluated.
    const auto bits = static_cast<unsigned long long>(random.bits());
    const double uniform = random.uniform();
    const double normal = random.normal();
    const double gamma = random.gamma(0.1 + 0.01 * i);
    char line[128];
    std::snprintf(line, sizeof line, "%016llx %a %a %a\n", bits, uniform, normal, gamma);
    text += line;
  }
  return text;
}

}  // namespace zeus::test
