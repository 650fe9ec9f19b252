// Emphasis for people at a terminal with colours; everywhere else the words stay as they are, byte for byte. Used
// sparingly: headings are bold, problems are red, savings are green. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus {

enum class Ink { plain, bold, faint, red, yellow, green };

std::string inked(std::string_view text, Ink ink, bool colour);

}  // namespace zeus
