// Files that a user names on the command line. Main thread only.
#pragma once

#include <string>

namespace zeus::cli {

// The whole file, relative to where the user stands; a file that is not there is a not_found Error, one
// of more than 2 GiB an invalid_argument Error.
std::string read_input_file(const std::string& path);

}  // namespace zeus::cli
