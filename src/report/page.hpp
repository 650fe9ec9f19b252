// The frame of every report: one self-contained HTML page that needs no file or network, in light or dark like the
// reader's system, for wide and narrow screens. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zeus::report {

struct Section {
  std::string heading;  // plain text; empty: no heading
  std::string body;     // markup
};

// A figure shown in large type: "12.4 %", "less energy".
struct Figure {
  std::string value;
  std::string label;
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<Figure> figures;
  std::vector<Section> sections;
  std::string script;  // runs once the page is loaded; nothing essential depends on it
};

std::string to_html(const Page& page);

// A table whose first column names its rows. On a narrow screen each row is a block of its own: its name, then a line
// for each other column. `rows` is markup: rows of one <th scope="row"> and <td>s; at most 12 columns.
std::string table(std::string_view caption, const std::vector<std::string>& columns, std::string_view rows);

}  // namespace zeus::report
