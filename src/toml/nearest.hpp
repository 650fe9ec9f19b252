// The known word that a user most likely meant. A pure function; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::toml {

// Nothing if none is near, that is, if more than a third of the letters would have to change. Dashes and underscores
// count as equal, and so do lower and upper case.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace zeus::toml
