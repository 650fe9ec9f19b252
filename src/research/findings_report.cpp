#include "research/findings_report.hpp"

#include "report/chart.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"
#include "research/bar_chart.hpp"

#include <fmt/format.h>

#include <variant>

namespace zeus::research {

namespace {

std::string markup_of(const FindingsTable& findings) {
  std::string rows;
  for (const std::vector<std::string>& row : findings.rows) {
    rows += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string cell = report::escaped(row[column]);
      rows += column == 0 ? fmt::format("<th scope=\"row\">{}</th>", cell) : fmt::format("<td>{}</td>", cell);
    }
    rows += "</tr>\n";
  }
  return report::table(findings.title, findings.columns, rows);
}

std::string markup_of(const BarChart& chart) {
  return draw(chart) + "\n";
}

template <typename Chart>
std::string markup_of(const Chart& chart) {
  return report::draw(chart) + "\n";
}

bool is_table(const FindingsFigure& figure) {
  return std::holds_alternative<FindingsTable>(figure);
}

// Consecutive charts stand side by side, as many as fit.
std::string body_of(const FindingsSection& section) {
  std::string html;
  for (const std::string& paragraph : section.paragraphs) {
    html += "<p>" + report::escaped(paragraph) + "</p>\n";
  }
  bool open = false;
  for (const FindingsFigure& figure : section.figures) {
    const bool chart = !is_table(figure);
    if (chart && !open) {
      html += "<div class=\"charts\">\n";
    } else if (!chart && open) {
      html += "</div>\n";
    }
    open = chart;
    html += std::visit([](const auto& one) { return markup_of(one); }, figure);
  }
  return open ? html + "</div>\n" : html;
}

}  // namespace

std::string findings_report(const Findings& findings) {
  report::Page page{.title = findings.title, .subtitle = {}, .figures = {}, .sections = {}, .script = {}};
  for (const std::string& paragraph : findings.paragraphs) {
    page.subtitle += page.subtitle.empty() ? paragraph : " " + paragraph;
  }
  for (const FindingsSection& section : findings.sections) {
    page.sections.push_back({.heading = section.title, .body = body_of(section)});
  }
  return report::to_html(page);
}

}  // namespace zeus::research
