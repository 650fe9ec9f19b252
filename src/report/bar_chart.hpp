// Bars as SVG markup. A pure function; callable from any thread. Infinite values and NaN are left out.
#pragma once

#include "records/findings.hpp"

#include <string>

namespace zeus::report {

std::string draw(const records::BarChart& chart);

}  // namespace zeus::report
