// Files that a user names on the command line. Main thread only.
#pragma once

#include <zeus/error.hpp>

#include <string>

namespace zeus::cli {

// The whole file; a relative path starts at the working folder. Throws a not_found Error if there is no such file, and
// an invalid_argument Error for one of more than 2 GiB.
std::string read_input_file(const std::string& path);

// Calls `use`: the message of an Error about what `file` says begins with that name.
template <typename Use>
auto about_file(const std::string& file, Use use) {
  ErrorKind kind{};
  std::string why;
  std::string advice;
  try {
    return use();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt_data && error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    kind = error.kind();
    why = error.message();
    advice = error.advice();
  }
  throw Error{kind, file + ": " + why, advice};
}

}  // namespace zeus::cli
