#include "report/job_report.hpp"

#include "base/amount_text.hpp"
#include "report/chart.hpp"
#include "report/job_figures.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace zeus::report {

namespace {

using records::ArmView;
using records::CarbonIntensity;
using records::JobView;
using records::SavingsView;
using records::TryView;

constexpr std::string_view no_value = "–";

// The saving as a part of `of`: "12.3 % less"; with the half-width of its interval "12 ± 3 % less", or that it is not
// clear.
template <typename Amount>
std::string change(Amount saved, std::optional<Amount> half_width, Amount of) {
  const double part = of > Amount{} ? saved / of : 0.0;
  const char* const way = part > 0.0 ? "less" : "more";
  if (!half_width || of <= Amount{}) {
    return std::abs(part) < 0.0005 ? "the same" : fmt::format("{:.1f} % {}", 100.0 * std::abs(part), way);
  }
  const double half = std::ceil(100.0 * (*half_width / of));
  return 100.0 * std::abs(part) < half ? fmt::format("no clear difference (± {:.0f} %)", half)
                                       : fmt::format("{:.0f} ± {:.0f} % {}", 100.0 * std::abs(part), half, way);
}

// A cell that shows `text`; the number behind it is stored under `key`.
std::string cell(std::string_view key, double value, std::string_view text) {
  return fmt::format(R"(<td data-key="{}" data-value="{}">{}</td>)", escaped(key), value, escaped(text));
}

std::string plain_cell(std::string_view text) {
  return fmt::format("<td>{}</td>", escaped(text));
}

std::string time_cell(std::string_view key, const std::optional<Seconds>& time) {
  return time ? cell(key, time->value(), to_text(*time)) : plain_cell(no_value);
}

std::string energy_cell(std::string_view key, const EnergyColumn& column, const std::optional<Joules>& energy) {
  return energy ? cell(key, energy->value(), column.text(*energy)) : plain_cell(no_value);
}

std::string row(std::string_view name, std::string_view cells) {
  return fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", escaped(name), cells);
}

// Against the default

Unit unit_of_grams(double largest) {
  return largest >= 1000.0 ? Unit{1000.0, "kg"} : Unit{1.0, "g"};
}

// Three digits, in the unit of `largest`, the largest of the values to compare.
std::string grams(double value, double largest) {
  const Unit unit = unit_of_grams(largest);
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(std::max(largest / unit.size, 1.0)))), 0, 2);
  return fmt::format("{:.{}f} {}", value / unit.size, digits, unit.name);
}

std::string grams(double value, std::optional<double> half_width, double largest) {
  const Unit unit = unit_of_grams(largest);
  return half_width ? with_interval(value / unit.size, *half_width / unit.size, unit.name) : grams(value, largest);
}

// Energies in one unit, so that they can be compared.
struct Compared {
  std::string of_default;
  std::string with_zeus;
  std::string saved;
};

Compared compared(Joules of_default, Joules saved, const std::optional<Joules>& half_width) {
  EnergyColumn energies;
  energies.fit(of_default);
  energies.fit(of_default - saved);
  energies.fit(saved, half_width);
  return {.of_default = energies.text(of_default),
          .with_zeus = energies.text(of_default - saved),
          .saved = energies.text(saved, half_width)};
}

Compared compared(Seconds of_default, Seconds saved, const std::optional<Seconds>& half_width) {
  return {
      .of_default = to_text(of_default), .with_zeus = to_text(of_default - saved), .saved = to_text(saved, half_width)};
}

// Empty without a price.
std::string price_row(const SavingsView& savings, std::string_view key,
                      const std::optional<records::EnergyPrice>& price) {
  if (!price) {
    return "";
  }
  const auto money = [&](Joules energy, const std::optional<Joules>& half_width) {
    return records::money_text(price->of(energy),
                               half_width ? std::optional{std::abs(price->of(*half_width))} : std::nullopt,
                               price->currency);
  };
  return row(fmt::format("energy at {:g} {} per kWh", price->per_kilowatt_hour, price->currency),
             cell(fmt::format("{}.price_of_default", key), price->of(savings.energy_of_default),
                  money(savings.energy_of_default, std::nullopt)) +
                 plain_cell(money(savings.energy_of_default - savings.energy, std::nullopt)) +
                 cell(fmt::format("{}.price", key), price->of(savings.energy),
                      money(savings.energy, savings.energy_uncertainty)) +
                 plain_cell(change(savings.energy, savings.energy_uncertainty, savings.energy_of_default)));
}

// The rows of the table for some recurrences, below a line that names them.
std::string savings_rows(const SavingsView& savings, std::string_view key, std::string_view which,
                         const JobReportOptions& options) {
  const CarbonIntensity& carbon = options.carbon;
  const auto compare = [&](std::string_view what, std::string_view unit, auto saved, const auto& uncertainty,
                           auto of_default) {
    const Compared texts = compared(of_default, saved, uncertainty);
    return cell(fmt::format("{}.{}_of_default_{}", key, what, unit), of_default.value(), texts.of_default) +
           plain_cell(texts.with_zeus) + cell(fmt::format("{}.{}_{}", key, what, unit), saved.value(), texts.saved) +
           plain_cell(change(saved, uncertainty, of_default));
  };
  const double carbon_of_default = carbon.grams(savings.energy_of_default);
  const double carbon_saved = carbon.grams(savings.energy);
  const auto mass = [&](double value) { return grams(value, carbon_of_default); };
  return fmt::format("<tr><th scope=\"rowgroup\" colspan=\"5\">{}</th></tr>\n", escaped(which)) +
         row("energy of the GPUs",
             compare("energy", "j", savings.energy, savings.energy_uncertainty, savings.energy_of_default)) +
         row("time", compare("time", "s", savings.time, savings.time_uncertainty, savings.time_of_default)) +
         row("energy-time cost",
             compare("cost", "j", savings.cost, savings.cost_uncertainty, savings.cost_of_default)) +
         price_row(savings, key, options.price) +
         row("CO2 equivalents",
             cell(fmt::format("{}.carbon_of_default_g", key), carbon_of_default, mass(carbon_of_default)) +
                 plain_cell(mass(carbon_of_default - carbon_saved)) +
                 cell(fmt::format("{}.carbon_g", key), carbon_saved,
                      grams(carbon_saved,
                            savings.energy_uncertainty ? std::optional{carbon.grams(*savings.energy_uncertainty)}
                                                       : std::nullopt,
                            carbon_of_default)) +
                 plain_cell(change(savings.energy, savings.energy_uncertainty, savings.energy_of_default)));
}

std::string the_last(std::uint64_t recurrences) {
  return fmt::format("the last {} recurrences", recurrences);
}

std::string all_of(std::uint64_t recurrences) {
  return fmt::format("all {} recurrences, including all exploration", recurrences);
}

// Whether some recurrences are in no sum of savings.
bool leaves_some_out(const JobView& job) {
  return job.spent.others > 0;
}

std::string compared_of(const JobView& job) {
  return leaves_some_out(job) ? fmt::format("the {} of {} recurrences that are compared", job.savings->recurrences,
                                            job.spent.recurrences)
                              : all_of(job.savings->recurrences);
}

// What all recurrences took, and those that are in no sum of savings.
std::string spent_table(const JobView& job, bool really_compared) {
  const records::SpentView& spent = job.spent;
  EnergyColumn energies;
  EnergyColumn costs;
  energies.fit(spent.energy, spent.energy_uncertainty);
  energies.fit(spent.energy_of_others);
  costs.fit(spent.cost);
  costs.fit(spent.cost_of_others);
  std::string rows =
      row(fmt::format("all {} recurrences", spent.recurrences),
          cell("spent.energy_j", spent.energy.value(), energies.text(spent.energy, spent.energy_uncertainty)) +
              cell("spent.time_s", spent.time.value(), to_text(spent.time)) +
              cell("spent.cost_j", spent.cost.value(), costs.text(spent.cost)));
  std::string note = "Every try and all measuring is in these sums.";
  if (!really_compared && spent.others > 0 && spent.others < spent.recurrences) {
    rows +=
        row(fmt::format("the {} that are not compared", spent.others),
            cell("spent.energy_of_others_j", spent.energy_of_others.value(), energies.text(spent.energy_of_others)) +
                cell("spent.time_of_others_s", spent.time_of_others.value(), to_text(spent.time_of_others)) +
                cell("spent.cost_of_others_j", spent.cost_of_others.value(), costs.text(spent.cost_of_others)));
    note += " A recurrence is not compared if it is running, missed its target, or ended before the default was known.";
  }
  if (spent.energy_unknown > 0) {
    note += fmt::format(" A part of the energy of {} is unknown, and not in them.",
                        spent.energy_unknown == 1 ? std::string{"one recurrence"}
                                                  : fmt::format("{} recurrences", spent.energy_unknown));
  }
  return table("What the job has taken", {"", "energy of the GPUs", "time", "energy-time cost"}, rows) +
         fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
}

std::string rows_of_default_really_run(const JobReportOptions& options) {
  std::string html;
  for (std::size_t i = 0; i < options.really_run_default.size(); ++i) {
    const SavingsView& savings = options.really_run_default[i];
    const bool all = i + 1 == options.really_run_default.size();
    html += savings_rows(savings, fmt::format("really_run_default.{}", i),
                         all ? all_of(savings.recurrences) : the_last(savings.recurrences), options);
  }
  return html;
}

std::string rows_of_expected_default(const JobView& job, const JobReportOptions& options) {
  std::string html;
  if (job.savings_last) {
    html += savings_rows(*job.savings_last, "savings_of_last_five", the_last(job.savings_last->recurrences), options);
  }
  return html + savings_rows(*job.savings, "savings", compared_of(job), options);
}

// One table: the measured default if it was really run, otherwise the expected one.
std::string against_default(const JobView& job, const JobReportOptions& options) {
  const bool really = !options.really_run_default.empty();
  if (!really && !job.savings) {
    return fmt::format("<p>Not known yet: {}.</p>\n", escaped(job.savings_unknown)) + spent_table(job, false);
  }
  const CarbonIntensity& carbon = options.carbon;
  return table(really ? "The default was run beside each recurrence" : "The default as it is expected",
               {"", "default", "with Zeus", "saved", "change"},
               really ? rows_of_default_really_run(options) : rows_of_expected_default(job, options)) +
         fmt::format(
             "<p class=\"note\">The default is batch size {} at the highest power limit, {} W. {} Cost is {:g} x "
             "energy + {:g} x {} W x time. CO2 at {:g} g per kWh, {}; the energy is that of the GPUs alone.</p>\n",
             job.definition.default_batch_size,
             job.device.power_limits.empty() ? std::string{no_value}
                                             : fmt::format("{:g}", job.device.power_limits.back().value()),
             really ? "It was run beside each recurrence."
                    : "Its energy and time are computed from its own runs and profiles. A difference smaller than its "
                      "interval may be chance, and is shown as no clear difference.",
             job.definition.eta, 1.0 - job.definition.eta, fmt::format("{:g}", job.device.max_power.value()),
             carbon.grams_per_kilowatt_hour, escaped(carbon.source)) +
         spent_table(job, really);
}

// What is known and what comes next

std::string next_sentence(const JobView& job) {
  std::string what = "No more tries are made: the job needs its owner's attention";
  if (job.next.kind == records::NextKind::run) {
    what = fmt::format("Run batch size {}{}", job.next.batch_size,
                       job.next.limit ? fmt::format(" at {:g} W", job.next.limit->value())
                                      : std::string{", measuring power limits meanwhile"});
  } else if (job.next.kind == records::NextKind::profile) {
    what = fmt::format("Measure {} power limits at batch size {}", job.next.profiles.size(), job.next.batch_size);
  }
  return fmt::format("<p><b>Next:</b> {}{}{}.</p>\n", escaped(what), job.next.why.empty() ? "" : ": ",
                     escaped(job.next.why));
}

std::string beliefs_table(const JobView& job) {
  std::string rows;
  EnergyColumn costs;
  for (const ArmView& arm : job.arms) {
    costs.fit(arm.expected_cost);
  }
  for (const ArmView& arm : job.arms) {
    const std::string key = fmt::format("batch_sizes.{}", arm.batch_size);
    const std::optional<double> epochs = arm.expected_epochs;
    const std::string interval =
        arm.low_cost && arm.high_cost ? costs.range(*arm.low_cost, *arm.high_cost) : std::string{no_value};
    rows += row(
        fmt::format("{}{}", arm.batch_size, arm.is_default ? " (default)" : ""),
        cell(key + ".reached", arm.reached, fmt::format("{}", arm.reached)) +
            cell(key + ".stopped", arm.stopped, fmt::format("{}", arm.stopped)) +
            (epochs ? cell(key + ".expected_epochs", *epochs, fmt::format("{:.1f}", *epochs)) : plain_cell(no_value)) +
            energy_cell(key + ".expected_cost_j", costs, arm.expected_cost) + plain_cell(interval) +
            (arm.best_limit
                 ? cell(key + ".best_limit_w", arm.best_limit->value(), fmt::format("{:g} W", arm.best_limit->value()))
                 : plain_cell(no_value)));
  }
  return table("Batch sizes",
               {"batch size", "reached the target", "stopped short", "epochs expected", "cost of a run",
                "95 % interval", "best power limit"},
               rows);
}

std::string side_by_side(const std::vector<std::string>& drawings) {
  std::string html = "<div class=\"charts\">\n";
  for (const std::string& drawing : drawings) {
    html += drawing + "\n";
  }
  return html + "</div>\n";
}

std::string tries_table(const JobView& job) {
  std::string rows;
  EnergyColumn energies;
  EnergyColumn costs;
  for (const TryView& one : job.tries) {
    if (one.energy) {
      energies.fit(one.energy->value, one.energy->uncertainty);
    }
    costs.fit(one.cost);
  }
  for (const TryView& one : job.tries) {
    const std::string key = fmt::format("tries.{}", one.number);
    std::string ended = one.outcome ? std::string{records::to_string(*one.outcome)} : std::string{"running"};
    if (one.left_out) {
      ended += ", left out: " + *one.left_out;
    }
    rows += row(fmt::format("{}", one.number),
                fmt::format("<td>{}</td>", one.recurrence) +
                    cell(key + ".batch_size", one.batch_size, fmt::format("{}", one.batch_size)) +
                    (one.limit ? cell(key + ".limit_w", one.limit->value(), fmt::format("{:g} W", one.limit->value()))
                               : plain_cell(no_value)) +
                    plain_cell(records::to_string(one.purpose)) + plain_cell(ended) +
                    cell(key + ".epochs", one.epochs, fmt::format("{}", one.epochs)) +
                    (one.metric ? cell(key + ".metric", *one.metric, readable(*one.metric)) : plain_cell(no_value)) +
                    (one.energy ? cell(key + ".energy_j", one.energy->value.value(),
                                       energies.text(one.energy->value, one.energy->uncertainty))
                                : plain_cell(no_value)) +
                    time_cell(key + ".time_s", one.time) + energy_cell(key + ".cost_j", costs, one.cost));
  }
  return fmt::format("<details><summary>All {} tries, one by one</summary>\n{}</details>\n", job.tries.size(),
                     table("Tries",
                           {"try", "recurrence", "batch size", "power limit", "purpose", "outcome", "epochs", "metric",
                            "energy", "time", "cost"},
                           rows));
}

// The whole

// Over the latest recurrences and over all; against the default as it was really run, if it was.
std::vector<Figure> figures_of(const JobView& job, const JobReportOptions& options) {
  const bool really = !options.really_run_default.empty();
  if (!really && !job.savings_last) {
    return {};
  }
  const SavingsView& last = really ? options.really_run_default.front() : *job.savings_last;
  const SavingsView& all = really ? options.really_run_default.back() : *job.savings;
  const double saved = options.carbon.grams(all.energy);
  const auto change_of = [&](auto what, auto uncertainty, auto of) {
    return change(last.*what, last.*uncertainty, last.*of);
  };
  std::vector<Figure> figures = {
      {change_of(&SavingsView::energy, &SavingsView::energy_uncertainty, &SavingsView::energy_of_default),
       fmt::format("energy, in the last {} recurrences", last.recurrences)},
      {change_of(&SavingsView::time, &SavingsView::time_uncertainty, &SavingsView::time_of_default), "time"},
      {change_of(&SavingsView::cost, &SavingsView::cost_uncertainty, &SavingsView::cost_of_default),
       "energy-time cost"}};
  if (std::abs(saved) > options.carbon.grams(all.energy_uncertainty.value_or(Joules{}))) {
    const std::string when = !really && leaves_some_out(job)
                                 ? fmt::format("in {} of {} recurrences", all.recurrences, job.spent.recurrences)
                                 : "so far, including exploration";
    figures.push_back({grams(std::abs(saved), std::abs(saved)),
                       fmt::format("CO2 equivalents {} {}", saved < 0.0 ? "more" : "saved", when)});
  }
  return figures;
}

// The page's data as JSON inside HTML: no part of it may end the element.
std::string data_block(const JobView& job) {
  std::string json = records::to_json(job);
  for (std::size_t at = json.find("</"); at != std::string::npos; at = json.find("</", at + 3)) {
    json.insert(at + 1, "\\");
  }
  return fmt::format("<script type=\"application/json\" id=\"job\">{}</script>\n", json);
}

std::string subtitle_of(const JobView& job, const std::vector<std::string>& remarks) {
  const auto reached =
      std::ranges::count(job.recurrences, records::RecurrenceState::reached, &records::RecurrenceView::state);
  std::string text = fmt::format("{} recurrence{} on {}, {} of which reached the target, in {} tries; policy {}.",
                                 job.recurrences.size(), job.recurrences.size() == 1 ? "" : "s",
                                 records::to_text(job.device), reached, job.tries.size(), job.definition.policy);
  for (const std::string& remark : remarks) {
    text += " " + remark;
  }
  return text;
}

}  // namespace

std::string job_report(const JobView& job, const JobReportOptions& options) {
  Page page{.title = fmt::format("Recurring job {}", job.name),
            .subtitle = subtitle_of(job, options.remarks),
            .figures = figures_of(job, options),
            .sections = {},
            .script = {}};
  const std::vector<RunPoint> points = run_points(job);
  page.sections.push_back({.heading = "Against the default", .body = against_default(job, options)});
  page.sections.push_back({.heading = "What is believed, and what comes next",
                           .body = next_sentence(job) +
                                   side_by_side({draw(beliefs_figure(job)),
                                                 draw(costs_figure(job, options.happened, options.really_run_costs))}) +
                                   beliefs_table(job)});
  page.sections.push_back({.heading = "What was chosen",
                           .body = side_by_side({draw(choices_figure(job, options.happened)),
                                                 draw(limits_figure(job, options.happened))})});
  if (!points.empty()) {
    page.sections.push_back(
        {.heading = "Time against energy",
         .body = "<p class=\"note\">A whole run at each batch size under each power limit: epochs as "
                 "expected, time and power of an epoch as measured. On the right, darker cells cost less; "
                 "the ring is "
                 "what runs next.</p>\n" +
                 side_by_side({draw(front_figure(points)), draw(landscape_figure(points))})});
  }
  page.sections.push_back({.heading = "Power limits",
                           .body = side_by_side({draw(epoch_energy_figure(job)), draw(epoch_time_figure(job))})});
  page.sections.push_back({.heading = "Tries", .body = tries_table(job) + data_block(job)});
  return to_html(page);
}

}  // namespace zeus::report
