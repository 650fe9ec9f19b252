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

std::string markup_of(const records::FindingsSamples& /*samples*/) {
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
    if (std::holds_alternative<records::FindingsSamples>(figure)) {
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

// The reason stands under the claim, where it may be as long as it has to be.
std::string markup_of(const records::ScorecardRow& row) {
  const std::string reason =
      row.reason.empty() ? std::string{} : fmt::format("<div class=\"note\">{}</div>", escaped(row.reason));
  return fmt::format(
      "<tr><th scope=\"row\" style=\"white-space:normal\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      escaped(row.claim), reason, escaped(field::name_of(row.verdict)), escaped(row.paper), escaped(row.here),
      escaped(row.where));
}

Section scorecard_of(const std::vector<records::ScorecardRow>& scorecard) {
  std::string rows;
  std::map<records::Verdict, int> count;
  for (const records::ScorecardRow& row : scorecard) {
    ++count[row.verdict];
    rows += markup_of(row);
  }
  return {
      .heading = "Scorecard",
      .body =
          fmt::format(
              "<p>Of {} claims of the paper {} agree with what was found here, {} differ, {} are too uncertain to "
              "say, and {} are not repeated. A number of the paper agrees if it lies in the range in which one more "
              "repetition of the experiment would lie in 95 of 100 cases, by the scatter of the seeds, and that "
              "range is no wider than 20 % of the paper's number: 10 % to either side of the one found here. A "
              "number that no seed changes agrees if it rounds to the paper's.</p>\n",
              scorecard.size(), count[records::Verdict::agrees], count[records::Verdict::differs],
              count[records::Verdict::too_uncertain], count[records::Verdict::not_repeated]) +
          table("Claim by claim", {"claim", "verdict", "the paper", "here", "in the paper"}, rows)};
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
