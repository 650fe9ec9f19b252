// Reads a file that decides what this process does with its rights, so that no other user can have put it there. A
// function of the file system; any thread.
#pragma once

#include "base/file_tree.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace zeus {

// The content of a plain file that root or `user` wrote, and that no other user can have written or replaced. The file
// and its folder are checked through the descriptors by which they are read, and no link to the file is followed.
// Nothing if there is no such file. A permission_denied Error says which user may have changed it or, with
// Readers::owner (for secrets), that other users may read it. A file longer than `most_bytes` is a corrupt_data Error.
std::optional<std::string> read_trusted(const std::filesystem::path& file, uid_t user, std::size_t most_bytes,
                                        Readers readers = Readers::everyone);

}  // namespace zeus
