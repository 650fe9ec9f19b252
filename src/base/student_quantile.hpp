// A pure function; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace zeus {

// How many standard errors a mean may be off on either side with a probability of 95 %, if its deviation comes from
// `freedom` independent differences (1 or more).
constexpr double student_quantile(int freedom) {
  constexpr std::array quantiles = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  return quantiles.at(std::min(static_cast<std::size_t>(std::max(freedom, 1)), quantiles.size()) - 1);
}

}  // namespace zeus
