// Reading a file whose word is acted upon with this process's rights, so that nobody else can have put it there. A
// function of the file system; any thread.
#pragma once

#include "base/file_tree.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace zeus {

// The content of a plain file that root or `user` wrote, and nobody else can have written or exchanged: the file and
// its folder are looked at by the descriptors through which they are read, and no link is followed to the file. Nothing
// when there is no such file. A permission_denied Error says who could have had a hand in it, and with Readers::owner
// that others may read it, which is for secrets; a longer file than `most_bytes` is a corrupt_data Error.
std::optional<std::string> read_trusted(const std::filesystem::path& file, uid_t user, std::size_t most_bytes,
                                        Readers readers = Readers::everyone);

}  // namespace zeus
