#include "report/page.hpp"

#include "report/markup.hpp"

#include <fmt/format.h>

namespace zeus::report {

namespace {

// Drawings use these variables, and the classes `frame`, `grid`, `label`, `line` and `mark`. The variables --c1 and so
// on are the names of a table's columns, as table() sets them.
constexpr std::string_view style = R"css(
:root{color-scheme:light dark;--ground:#fbfbfa;--panel:#fff;--ink:#1c1f24;--faint:#667;--rule:#dde;--accent:#1d5fd1;--second:#c2410c}
@media(prefers-color-scheme:dark){:root{--ground:#14161a;--panel:#1c1f25;--ink:#e8eaee;--faint:#9aa3b2;--rule:#343945;--accent:#6ea8ff;--second:#ff9a5c}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1180px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:1.55rem;margin:0 0 4px}h2{font-size:1.1rem;margin:0 0 8px}
.subtitle{color:var(--faint);margin:0 0 20px}
.figures{display:flex;flex-wrap:wrap;gap:12px;margin:0 0 20px}
.figure{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:10px 16px;flex:1 1 150px}
.figure b{display:block;font-size:1.35rem}.figure span{color:var(--faint);font-size:.88rem}
section{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:16px;margin:0 0 16px}
.scroll{overflow-x:auto}svg{display:block}
svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .label{fill:var(--faint)}
svg .frame{fill:none;stroke:var(--rule)}svg .grid{stroke:var(--rule)}
svg .line{fill:none;stroke:var(--accent);stroke-width:2}svg .mark{fill:var(--accent);cursor:pointer}
.drawing{display:flex;gap:8px}.drawing>svg,.drawing svg svg{width:100%;height:100%;min-width:0}.drawing>.names{flex:0 0 62px}
.drawing svg svg *{vector-effect:non-scaling-stroke}
.legend{display:flex;flex-wrap:wrap;gap:2px 24px;color:var(--faint);font-size:12px}.legend span{display:flex;align-items:center;gap:8px}.legend svg{flex:none}
p{margin:8px 0}.note{color:var(--faint);font-size:.88rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:14px;align-items:start;margin:8px 0}
caption{text-align:left;font-weight:600;padding:8px 0 4px}summary{cursor:pointer}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:2px 14px 2px 0;text-align:right;white-space:nowrap}th{color:var(--faint);font-weight:500}th:first-child{text-align:left}th[scope=rowgroup]{color:var(--ink);padding-top:8px}
@media(max-width:600px){
svg .wide{display:none}
table,tbody,caption,tr,th{display:block}th[scope=col]{display:none}
th[scope=rowgroup]{border-bottom:1px solid var(--rule);font-weight:600;white-space:normal}
th[scope=row]{padding:8px 0 0;color:var(--ink);font-weight:600;white-space:normal}th[scope=row]::before{content:var(--c1) ' '}
td{display:flex;justify-content:space-between;gap:16px;padding:0;white-space:normal}td::before{color:var(--faint);text-align:left}td:empty{display:none}
td:nth-child(2)::before{content:var(--c2)}td:nth-child(3)::before{content:var(--c3)}td:nth-child(4)::before{content:var(--c4)}
td:nth-child(5)::before{content:var(--c5)}td:nth-child(6)::before{content:var(--c6)}td:nth-child(7)::before{content:var(--c7)}
td:nth-child(8)::before{content:var(--c8)}td:nth-child(9)::before{content:var(--c9)}td:nth-child(10)::before{content:var(--c10)}
td:nth-child(11)::before{content:var(--c11)}td:nth-child(12)::before{content:var(--c12)}
}
)css";

// A string of CSS. What could end it is written as the character's number.
std::string css_string(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    const bool plain = c != '\'' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
    result += plain ? std::string{c} : fmt::format("\\{:x} ", static_cast<unsigned char>(c));
  }
  return result + "'";
}

}  // namespace

std::string table(std::string_view caption, const std::vector<std::string>& columns, std::string_view rows) {
  std::string names;
  std::string heads;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    names += fmt::format("--c{}:{};", column + 1, css_string(columns[column]));
    heads += fmt::format("<th scope=\"col\">{}</th>", escaped(columns[column]));
  }
  return fmt::format(
      "<div class=\"scroll\"><table style=\"{}\">\n<caption>{}</caption>\n<tr>{}</tr>\n{}</table></div>\n",
      escaped(names), escaped(caption), heads, rows);
}

std::string to_html(const Page& page) {
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  html += "<title>" + escaped(page.title) + "</title>\n<style>";
  html += style;
  html += "</style>\n</head>\n<body>\n<main>\n<h1>" + escaped(page.title) + "</h1>\n";
  html += "<p class=\"subtitle\">" + escaped(page.subtitle) + "</p>\n";
  if (!page.figures.empty()) {
    html += "<div class=\"figures\">\n";
    for (const Figure& figure : page.figures) {
      html += "<div class=\"figure\"><b>" + escaped(figure.value) + "</b><span>" + escaped(figure.label) +
              "</span></div>\n";
    }
    html += "</div>\n";
  }
  for (const Section& section : page.sections) {
    html += "<section>\n";
    if (!section.heading.empty()) {
      html += "<h2>" + escaped(section.heading) + "</h2>\n";
    }
    html += section.body + "</section>\n";
  }
  html += "</main>\n";
  if (!page.script.empty()) {
    html += "<script>\n" + page.script + "</script>\n";
  }
  html += "</body>\n</html>\n";
  return html;
}

}  // namespace zeus::report
