// Words set off for people who look at a terminal that has colours; byte for byte as they are for everybody else. Used
// sparingly: headings are bold, what is wrong is red, what was saved is green. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus {

enum class Ink { plain, bold, faint, red, yellow, green };

std::string inked(std::string_view text, Ink ink, bool colour);

}  // namespace zeus
