// Charts as SVG markup. Pure functions; callable from any thread. Infinite values and NaN are left out.
#pragma once

#include "records/charts.hpp"

#include <string>

namespace zeus::report {

std::string draw(const records::XyChart& chart);
std::string draw(const records::GridChart& chart);

}  // namespace zeus::report
