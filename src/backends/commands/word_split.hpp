// A line as a POSIX shell splits it into words: blanks, quotes, escapes and comments. What a shell would expand or obey
// (variables, patterns, pipes, redirections) stands for itself. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zeus::backends::commands {

struct SplitLine {
  std::vector<std::string> words;
  std::string_view fault;  // why there are none, in static words; empty where all is well
};

SplitLine split_words(std::string_view line);

}  // namespace zeus::backends::commands
