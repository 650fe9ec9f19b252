// Files that a user names on the command line. Main thread only.
#pragma once

#include <string>

namespace zeus::cli {

// The whole file; a relative path starts at the working folder. Throws a not_found Error if there is no such file, and
// an invalid_argument Error for one of more than 2 GiB.
std::string read_input_file(const std::string& path);

}  // namespace zeus::cli
