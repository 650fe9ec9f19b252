// The known word that somebody has most likely meant. A pure function; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::toml {

// Nothing where none is near: more than a third of its letters would have to change. Dashes and underscores, small
// letters and capitals are alike.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace zeus::toml
