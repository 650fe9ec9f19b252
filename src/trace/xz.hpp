// The .xz format, unpacked in memory. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zeus::trace {

// Whether the bytes begin as an .xz file does.
bool is_xz(std::string_view bytes);

// Unpacks a whole .xz file. Bytes that are none, or that unpack to more than `most_bytes`, are a corrupt_data Error
// that names the file.
std::string unpack_xz(const std::string& name, std::string_view bytes, std::size_t most_bytes = std::size_t{4} << 30);

}  // namespace zeus::trace
