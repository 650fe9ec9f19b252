#include "serving/board.hpp"

#include "base/amount_text.hpp"
#include "records/charts.hpp"
#include "report/chart.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace zeus::serving {

namespace {

constexpr std::string_view unknown_cell = "–";

// Sorts the rows of both tables by the numbers that the cells of one hold; a row is the same run in both.
constexpr std::string_view sorting = R"js(
(function(){
  var by=document.getElementById('by'),tables=document.querySelectorAll('table');
  if(!by){return;}
  var rows=function(table){return Array.prototype.slice.call(table.querySelectorAll('tr[data-run]'));};
  var value=function(row,column){
    var cell=row.children[column],number=cell.getAttribute('data-value');
    return number===null?cell.textContent:number===''?Infinity:Number(number);
  };
  by.addEventListener('change',function(){
    var at=by.value.split('.'),order={},sorted=rows(tables[Number(at[0])]);
    sorted.sort(function(a,b){var x=value(a,Number(at[1])),y=value(b,Number(at[1]));return x<y?-1:x>y?1:0;});
    sorted.forEach(function(row,place){order[row.getAttribute('data-run')]=place;});
    tables.forEach(function(table){
      rows(table).sort(function(a,b){return order[a.getAttribute('data-run')]-order[b.getAttribute('data-run')];})
        .forEach(function(row){row.parentNode.appendChild(row);});
    });
  });
})();
)js";

struct Cell {
  std::string_view key;
  std::optional<double> value;
  std::string text;
};

std::string markup_of(const Cell& cell) {
  return fmt::format(R"(<td data-key="{}" data-value="{}">{}</td>)", report::escaped(cell.key),
                     cell.value ? fmt::format("{}", *cell.value) : "", report::escaped(cell.text));
}

// All energies of a column are in one unit.
EnergyColumn column_of(std::span<const BoardEntry> entries, std::optional<Energy> SteadyFigures::*which) {
  EnergyColumn column;
  for (const BoardEntry& entry : entries) {
    if (const std::optional<Energy>& energy = entry.result.steady.*which) {
      column.fit(energy->value, energy->uncertainty);
    }
  }
  return column;
}

Cell energy_cell(std::string_view key, const EnergyColumn& column, const std::optional<Energy>& energy) {
  return {.key = key,
          .value = energy ? std::optional{energy->value.value()} : std::nullopt,
          .text = energy ? column.text(energy->value, energy->uncertainty) : std::string{unknown_cell}};
}

Cell figure_cell(std::string_view key, const std::optional<Figure>& figure) {
  return {.key = key,
          .value = figure ? std::optional{figure->value} : std::nullopt,
          .text = figure ? with_interval(figure->value, figure->uncertainty, "") : std::string{unknown_cell}};
}

Cell time_cell(std::string_view key, const std::optional<Times>& times, TimePercentile Times::*which) {
  const auto value = times ? std::optional{((*times).*which).value} : std::nullopt;
  return {.key = key,
          .value = value ? std::optional{value->value()} : std::nullopt,
          .text = value ? fmt::format("{:.4g}", Milliseconds{*value}.value()) : std::string{unknown_cell}};
}

std::string row_of(std::size_t run, const BoardEntry& entry, const std::vector<std::string>& texts,
                   const std::vector<Cell>& cells) {
  std::string row = fmt::format("<tr data-run=\"{}\"><th scope=\"row\">{}</th>", run, report::escaped(entry.name));
  for (const std::string& text : texts) {
    row += fmt::format("<td>{}</td>", report::escaped(text));
  }
  for (const Cell& cell : cells) {
    row += markup_of(cell);
  }
  return row + "</tr>\n";
}

// What can be sorted by, in each of the two tables.
const std::vector<std::string>& energy_columns() {
  static const std::vector<std::string> names{"run",       "model",      "GPUs",       "load",
                                              "per token", "per answer", "tokens / s", "failed"};
  return names;
}
const std::vector<std::string>& time_columns() {
  static const std::vector<std::string> names{"run",          "first 50 %",  "first 99 %", "between 50 %",
                                              "between 99 %", "answer 50 %", "answer 99 %"};
  return names;
}

std::string energy_table(std::span<const BoardEntry> entries) {
  const EnergyColumn per_token = column_of(entries, &SteadyFigures::energy_per_output_token);
  const EnergyColumn per_answer = column_of(entries, &SteadyFigures::energy_per_answer);
  std::string rows;
  for (std::size_t run = 0; run < entries.size(); ++run) {
    const BenchResult& result = entries[run].result;
    rows += row_of(run, entries[run], {result.model, gpus_text(result), load_text(result)},
                   {energy_cell("energy_per_output_token_j", per_token, result.steady.energy_per_output_token),
                    energy_cell("energy_per_answer_j", per_answer, result.steady.energy_per_answer),
                    figure_cell("output_tokens_per_s", result.steady.output_tokens_per_second),
                    {.key = "answers.failed",
                     .value = static_cast<double>(result.answers.failed),
                     .text = fmt::format("{}", result.answers.failed)}});
  }
  return report::table("Energy and rates", energy_columns(), rows);
}

std::string time_table(std::span<const BoardEntry> entries) {
  std::string rows;
  for (std::size_t run = 0; run < entries.size(); ++run) {
    const SteadyFigures& steady = entries[run].result.steady;
    rows += row_of(run, entries[run], {},
                   {time_cell("time_to_first_token_s.p50", steady.time_to_first_token, &Times::p50),
                    time_cell("time_to_first_token_s.p99", steady.time_to_first_token, &Times::p99),
                    time_cell("time_between_tokens_s.p50", steady.time_between_tokens, &Times::p50),
                    time_cell("time_between_tokens_s.p99", steady.time_between_tokens, &Times::p99),
                    time_cell("time_per_answer_s.p50", steady.time_per_answer, &Times::p50),
                    time_cell("time_per_answer_s.p99", steady.time_per_answer, &Times::p99)});
  }
  return report::table("Times in ms: to the first token, between tokens, of a whole answer", time_columns(), rows);
}

std::string sort_choice() {
  std::string choice = "<p><label>Sort by <select id=\"by\">";
  const auto add = [&](int table, const std::vector<std::string>& names) {
    for (std::size_t column = table == 0 ? 0 : 1; column < names.size(); ++column) {
      choice += fmt::format("<option value=\"{}.{}\">{}</option>", table, column, report::escaped(names[column]));
    }
  };
  add(0, energy_columns());
  add(1, time_columns());
  return choice + "</select></label></p>\n";
}

Cell count_cell(std::string_view key, std::uint64_t count) {
  return {.key = key, .value = static_cast<double>(count), .text = fmt::format("{}", count)};
}

std::string vote_table(std::span<const VoteCounts> votes) {
  std::string rows;
  for (const VoteCounts& one : votes) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", report::escaped(one.first),
                        report::escaped(one.second));
    for (const Cell& cell :
         {count_cell("first_better", one.first_better), count_cell("second_better", one.second_better),
          count_cell("neither", one.neither), count_cell("worth", one.worth), count_cell("not_worth", one.not_worth)}) {
      rows += markup_of(cell);
    }
    rows += "</tr>\n";
  }
  return report::table("Which answer was better, and whether it was worth the energy that it took more",
                       {"first", "second", "first better", "second better", "neither", "worth it", "not worth it"},
                       rows);
}

struct FrontierPoint {
  double time = 0;
  double energy = 0;
};

std::optional<FrontierPoint> point_of(const BenchResult& result) {
  if (!result.steady.energy_per_output_token || !result.steady.time_between_tokens) {
    return std::nullopt;
  }
  return FrontierPoint{.time = result.steady.time_between_tokens->p50.value.value(),
                       .energy = result.steady.energy_per_output_token->value.value()};
}

records::ChartPoint chart_point(const BenchResult& result, const FrontierPoint& point) {
  const double half = result.steady.energy_per_output_token->uncertainty.value();
  return {.x = Milliseconds{Seconds{point.time}}.value(),
          .y = point.energy,
          .low = point.energy - half,
          .high = point.energy + half,
          .label = load_text(result)};
}

records::XyChart chart_of(std::span<const BoardEntry> entries, const std::string& model) {
  records::ChartSeries all{.name = "runs", .style = records::SeriesStyle::points, .points = {}};
  records::ChartSeries best{.name = "beaten by no other", .style = records::SeriesStyle::line, .points = {}};
  for (const BoardEntry& entry : entries) {
    if (const auto point = point_of(entry.result); point && entry.result.model == model) {
      all.points.push_back(chart_point(entry.result, *point));
    }
  }
  for (const std::size_t place : frontier(entries, model)) {
    const FrontierPoint point = *point_of(entries[place].result);
    best.points.push_back({.x = Milliseconds{Seconds{point.time}}.value(), .y = point.energy, .label = {}});
  }
  return {.title = model,
          .x = {.label = "time between tokens, median (ms)", .from_zero = true},
          .y = {.label = "energy per output token (J)", .from_zero = true},
          .series = {all, best},
          .reference = {}};
}

std::string reasons_of(std::span<const BoardEntry> entries) {
  std::string text;
  for (const BoardEntry& entry : entries) {
    if (!entry.result.steady.energy_per_output_token) {
      text += fmt::format("<p class=\"note\">{}: {}</p>\n", report::escaped(entry.name),
                          report::escaped(entry.result.steady.why_no_energy_per_token));
    }
  }
  return text;
}

}  // namespace

std::string load_text(const BenchResult& result) {
  return result.rate ? fmt::format("{:g} a second", *result.rate) : fmt::format("{} in flight", result.in_flight);
}

std::string gpus_text(const BenchResult& result) {
  if (result.gpus.empty()) {
    return "none";
  }
  return result.gpus.size() == 1 ? result.gpus.front().name
                                 : fmt::format("{} x {}", result.gpus.size(), result.gpus.front().name);
}

std::vector<std::size_t> frontier(std::span<const BoardEntry> entries, std::string_view model) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < entries.size(); ++place) {
    if (entries[place].result.model == model && point_of(entries[place].result)) {
      places.push_back(place);
    }
  }
  const auto time_and_energy = [&](std::size_t place) {
    const FrontierPoint point = *point_of(entries[place].result);
    return std::pair{point.time, point.energy};
  };
  std::ranges::sort(places, {}, time_and_energy);
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(places, [&](std::size_t place) {
    const double energy = time_and_energy(place).second;
    const bool is_beaten = energy >= least;
    least = std::min(least, energy);
    return is_beaten;
  });
  return places;
}

std::string board_page(std::span<const BoardEntry> entries, std::span<const VoteCounts> votes) {
  std::set<std::string> models;
  for (const BoardEntry& entry : entries) {
    models.insert(entry.result.model);
  }
  std::string charts = "<div class=\"charts\">\n";
  for (const std::string& model : models) {
    if (!frontier(entries, model).empty()) {
      charts += report::draw(chart_of(entries, model)) + "\n";
    }
  }
  report::Page page{.title = "What answers take",
                    .subtitle =
                        "Energy is all that the GPUs took in the steady part of a run. After ± stands the "
                        "half-width of the 95 % interval.",
                    .figures = {{.value = fmt::format("{}", entries.size()), .label = "runs"},
                                {.value = fmt::format("{}", models.size()), .label = "models"}},
                    .sections = {},
                    .script = std::string{sorting}};
  if (!entries.empty()) {
    page.sections.push_back({"Energy against latency", charts + "</div>\n"});
    page.sections.push_back(
        {"Runs", sort_choice() + energy_table(entries) + time_table(entries) + reasons_of(entries)});
  }
  if (!votes.empty()) {
    page.sections.push_back({"Votes", vote_table(votes)});
  }
  return report::to_html(page);
}

namespace {

std::optional<Figure> figure_of_energy(const std::optional<Energy>& energy) {
  return energy ? std::optional{Figure{energy->value.value(), energy->uncertainty.value()}} : std::nullopt;
}

// Of the two ends of its interval, the farther; if one is unknown, nothing.
std::optional<Figure> figure_of_time(const std::optional<Times>& times, TimePercentile Times::*which) {
  if (!times) {
    return std::nullopt;
  }
  const TimePercentile& time = (*times).*which;
  if (!time.low || !time.high) {
    return std::nullopt;
  }
  return Figure{time.value.value(), std::max(*time.high - time.value, time.value - *time.low).value()};
}

void put_change(ComparedFigure& figure) {
  if (!figure.first || !figure.second) {
    figure.why_unknown = !figure.first ? "the first has no such figure, or no interval of it"
                                       : "the second has no such figure, or no interval of it";
    return;
  }
  if (figure.first->value <= 0) {
    figure.why_unknown = "the first is 0";
    return;
  }
  const double ratio_of_both = figure.second->value / figure.first->value;
  const double relative = std::hypot(figure.first->uncertainty / figure.first->value,
                                     figure.second->value > 0 ? figure.second->uncertainty / figure.second->value : 0);
  figure.change = Figure{ratio_of_both - 1, ratio_of_both * relative};
}

template <typename Value>
void note_if_different(std::vector<std::string>& differences, std::string_view what, const Value& first,
                       const Value& second) {
  if (first != second) {
    differences.push_back(fmt::format("{}: {} and {}", what, first, second));
  }
}

}  // namespace

bool ComparedFigure::is_clear() const {
  return change && std::abs(change->value) > change->uncertainty;
}

Comparison compare(const BenchResult& first, const BenchResult& second) {
  const SteadyFigures& a = first.steady;
  const SteadyFigures& b = second.steady;
  Comparison comparison;
  const auto add = [&](std::string key, std::string what, std::optional<Figure> of_first,
                       std::optional<Figure> of_second) {
    ComparedFigure figure{.key = std::move(key), .what = std::move(what), .first = of_first, .second = of_second};
    put_change(figure);
    comparison.figures.push_back(std::move(figure));
  };
  add("energy_per_output_token_j", "J per output token", figure_of_energy(a.energy_per_output_token),
      figure_of_energy(b.energy_per_output_token));
  add("energy_per_answer_j", "J per answer", figure_of_energy(a.energy_per_answer),
      figure_of_energy(b.energy_per_answer));
  add("power_w", "W", a.power, b.power);
  add("output_tokens_per_s", "output tokens a second", a.output_tokens_per_second, b.output_tokens_per_second);
  add("time_to_first_token_s.p50", "s to the first token, 50 %", figure_of_time(a.time_to_first_token, &Times::p50),
      figure_of_time(b.time_to_first_token, &Times::p50));
  add("time_between_tokens_s.p50", "s between tokens, 50 %", figure_of_time(a.time_between_tokens, &Times::p50),
      figure_of_time(b.time_between_tokens, &Times::p50));
  add("time_per_answer_s.p50", "s for an answer, 50 %", figure_of_time(a.time_per_answer, &Times::p50),
      figure_of_time(b.time_per_answer, &Times::p50));
  std::vector<std::string>& differences = comparison.differences;
  note_if_different(differences, "model", first.model, second.model);
  note_if_different(differences, "GPUs", gpus_text(first), gpus_text(second));
  note_if_different(differences, "load", load_text(first), load_text(second));
  note_if_different(differences, "prompts", first.prompts, second.prompts);
  note_if_different(differences, "most tokens", first.max_tokens, second.max_tokens);
  note_if_different(differences, "ignore_eos", first.ignore_eos, second.ignore_eos);
  note_if_different(differences, "interface", field::name_of(first.route), field::name_of(second.route));
  return comparison;
}

}  // namespace zeus::serving
