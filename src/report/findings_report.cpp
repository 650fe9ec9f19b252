#include "report/findings_report.hpp"

#include "report/bar_chart.hpp"
#include "report/chart.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <variant>

namespace zeus::report {

namespace {

std::string markup_of(const records::FindingsTable& findings) {
  std::string rows;
  for (const std::vector<std::string>& row : findings.rows) {
    rows += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string cell = escaped(row[column]);
      rows += column == 0 ? fmt::format("<th scope=\"row\">{}</th>", cell) : fmt::format("<td>{}</td>", cell);
    }
    rows += "</tr>\n";
  }
  return table(findings.title, findings.columns, rows);
}

std::string markup_of(const records::BarChart& chart) {
  return draw(chart) + "\n";
}

std::string markup_of(const FindingsSamples& /*samples*/) {
  return {};
}

template <typename Chart>
std::string markup_of(const Chart& chart) {
  return draw(chart) + "\n";
}

bool is_table(const records::FindingsFigure& figure) {
  return std::holds_alternative<records::FindingsTable>(figure);
}

// Consecutive charts stand side by side, as many as fit.
std::string body_of(const records::FindingsSection& section) {
  std::string html;
  for (const std::string& paragraph : section.paragraphs) {
    html += "<p>" + escaped(paragraph) + "</p>\n";
  }
  bool open = false;
  for (const records::FindingsFigure& figure : section.figures) {
    if (std::holds_alternative<FindingsSamples>(figure)) {
      continue;
    }
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

Section scorecard_of(const std::vector<ScorecardRow>& scorecard) {
  records::FindingsTable table{
      .title = "What agrees",
      .columns = {"claim", "in the paper", "the paper", "here", "verdict", "criterion or reason"},
      .rows = {}};
  std::map<Verdict, int> count;
  for (const ScorecardRow& row : scorecard) {
    ++count[row.verdict];
    table.rows.push_back(
        {row.claim, row.where, row.paper, row.here, std::string{field::name_of(row.verdict)}, row.reason});
  }
  std::string sums;
  for (const auto& [verdict, rows] : count) {
    sums += fmt::format("{}{} {}", sums.empty() ? "" : ", ", rows, field::name_of(verdict));
  }
  return {.heading = "Scorecard",
          .body = fmt::format("<p>Of {} claims: {}. A number of the paper agrees if it lies in the range in which one "
                              "more repetition of the experiment would lie in 95 of 100 cases, by the scatter of the "
                              "seeds, and that range reaches no further than 10 % of the paper's number to either "
                              "side. A number that no seed changes agrees if it rounds to the paper's.</p>\n",
                              scorecard.size(), sums) +
                  markup_of(table)};
}

}  // namespace

std::string findings_report(const records::Findings& findings) {
  Page page{.title = findings.title, .subtitle = {}, .figures = {}, .sections = {}, .script = {}};
  for (const std::string& paragraph : findings.paragraphs) {
    page.subtitle += page.subtitle.empty() ? paragraph : " " + paragraph;
  }
  if (!findings.scorecard.empty()) {
    page.sections.push_back(scorecard_of(findings.scorecard));
  }
  for (const records::FindingsSection& section : findings.sections) {
    page.sections.push_back({.heading = section.title, .body = body_of(section)});
  }
  return to_html(page);
}

}  // namespace zeus::report
