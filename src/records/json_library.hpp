// What the JSON library is used for: formatting numbers and strings, and parsing (JsonValue::parse). Only
// json_library.cpp includes it. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::records {

// The shortest form that reads back as the same number, with ".0" if it is whole; "null" if it is not finite.
void append_number(std::string& json, double number);
// In quotes. Bytes that are not UTF-8 are replaced.
void append_quoted(std::string& json, std::string_view string);

}  // namespace zeus::records
