// The .xz format, unpacked in memory. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zeus::research {

// True if the bytes begin like an .xz file.
bool is_xz(std::string_view bytes);

// Unpacks a whole .xz file. If the bytes are not such a file, or unpack to more than `most_bytes`, throws a
// corrupt_data Error that names the file.
std::string unpack_xz(const std::string& name, std::string_view bytes, std::size_t most_bytes = std::size_t{4} << 30);

}  // namespace zeus::research
