// What somebody meant who mistyped a word. Pure function; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::command_line {

// The one of `known` that is nearest to `word`, where one is near enough to have been meant.
std::optional<std::string> near_word(std::string_view word, std::span<const std::string> known);

}  // namespace zeus::command_line
