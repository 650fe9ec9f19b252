// What others gave, made fit for a line that a person reads. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zeus {

// Control characters as "\n" or "\x1b", and bytes that are no UTF-8 as "\xff": nothing of it moves a terminal's cursor.
std::string printable(std::string_view text);

// No longer than `most` bytes: where it is, its end, and " ... " for the middle. No character is cut in two.
std::string shortened(std::string_view text, std::size_t most);

// Both, in single quotes: as values are named in messages.
std::string in_quotes(std::string_view text);

}  // namespace zeus
