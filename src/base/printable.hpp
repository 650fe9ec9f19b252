// Makes foreign strings fit for a line that a person reads. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zeus {

// Control characters as "\n" or "\x1b", and bytes that are not UTF-8 as "\xff": nothing in it can move a terminal's
// cursor.
std::string printable(std::string_view text);

// At most `most` bytes: a longer string keeps its beginning and its end, with " ... " between. No character is cut in
// two.
std::string shortened(std::string_view text, std::size_t most);

// The string made printable, shortened and put in single quotes: how messages name values.
std::string in_quotes(std::string_view text);

}  // namespace zeus
