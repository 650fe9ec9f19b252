// Writing and reading energies with their uncertainty (zeus/energy.hpp). Pure functions; call them from any thread.
#pragma once

#include <zeus/energy.hpp>

#include <string>
#include <string_view>

namespace zeus::records {

using zeus::Energy;
using zeus::EnergyMethod;

// The half-width of a 95 % interval, such as an uncertainty, in standard deviations of a normal error.
inline constexpr double normal_95 = 1.959963984540054;

std::string_view to_string(EnergyMethod method);

// The format that docs/cli.md promises: {"value":..,"uncertainty":..,"systematic":..,"method":..}, on one line.
std::string to_json(const Energy& energy);
// Reads that format back. Anything else (a missing key, a wrong type, a negative or non-finite uncertainty) is a
// corrupt_data Error.
Energy energy_from_json(std::string_view text);

}  // namespace zeus::records
