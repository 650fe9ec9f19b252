// Words of a command as a POSIX shell takes them.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus {

// In single quotes: whatever the word, any shell takes it as it is.
std::string shell_quoted(std::string_view word);
// As a person would type it: in quotes only if it needs them.
std::string shell_word(std::string_view word);

}  // namespace zeus
