// The version of the library in use, which may differ from that of the headers a program was built with.
#pragma once

#include <zeus/export.hpp>

#include <string_view>

namespace zeus {

// "major.minor.patch"; a static string, callable from any thread.
ZEUS_API std::string_view version();

// The version of the headers that the program was built with.
inline constexpr std::string_view header_version = "0.1.0";

}  // namespace zeus
