// Bars as SVG markup. A pure function; callable from any thread. Infinite values and NaN are left out.
#pragma once

#include "research/findings.hpp"

#include <string>

namespace zeus::research {

std::string draw(const BarChart& chart);

}  // namespace zeus::research
