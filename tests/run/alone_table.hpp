// How often commands without a job state what is true of their limit, and floors for that. Pure.
#pragma once

#include "tests/run/truth_player.hpp"

#include <array>
#include <string>
#include <vector>

namespace zeus::truth {

struct AloneTable {
  std::string text;
  std::string broken;  // a line for each floor that is violated
};

// Of scripts that were played twice each.
AloneTable table_of_alone(const std::vector<std::array<PlayedAlone, 2>>& all);

std::string text_of(const PlayedAlone& played);

}  // namespace zeus::truth
