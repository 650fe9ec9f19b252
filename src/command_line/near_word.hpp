// Finds the word that a user who mistyped one probably meant. Pure function; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::command_line {

// The word in `known` that is nearest to `word`, if one is near enough to be meant.
std::optional<std::string> near_word(std::string_view word, std::span<const std::string> known);

}  // namespace zeus::command_line
