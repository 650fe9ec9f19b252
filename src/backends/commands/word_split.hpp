// Splits a line into words as a POSIX shell does: blanks, quotes, escapes and comments. Variables, patterns, pipes and
// redirections, which a shell would expand or obey, stay as they are. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zeus::backends::commands {

struct SplitLine {
  std::vector<std::string> words;
  std::string_view fault;  // why there are none, as a static string; empty if the line could be split
};

SplitLine split_words(std::string_view line);

}  // namespace zeus::backends::commands
