// JSON for golden files. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::test {

// JSON that is on one line, without blanks between its parts, with each member on a line of its own.
inline std::string indented(std::string_view json) {
  std::string text;
  std::string line_end = "\n";
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const char next = i + 1 < json.size() ? json[i + 1] : '\0';
    if (quoted || c == '"') {
      quoted = quoted ? c != '"' : true;
      text += c;
      if (c == '\\') {
        text += next;
        ++i;
      }
    } else if ((c == '{' || c == '[') && next != '}' && next != ']') {
      line_end += "  ";
      text += c + line_end;
    } else if ((c == '}' || c == ']') && text.back() != '{' && text.back() != '[') {
      line_end.resize(line_end.size() - 2);
      text += line_end + c;
    } else if (c == ',') {
      text += c + line_end;
    } else if (c == ':') {
      text += ": ";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace zeus::test
