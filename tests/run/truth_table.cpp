#include "tests/run/truth_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <regex>
#include <string_view>

namespace zeus::truth {

namespace {

constexpr std::size_t settled_in = 3;  // savings are looked at from the fourth recurrence on
constexpr double exact = 0.02;         // of the default's cost: the error that is allowed without an interval
constexpr double visible = 0.001;      // of the default's cost: less is not stated as a saving
constexpr Seconds short_run{2};
constexpr Seconds long_training{20};

// Statements, some of them with an interval.
class Statements {
 public:
  void add(const std::optional<Statement>& one) {
    ++asked_;
    if (!one) {
      return;
    }
    errors_.push_back(one->error());
    if (one->said.half_width) {
      ++with_interval_;
      held_ += one->is_held() ? 1 : 0;
      half_widths_.push_back(*one->said.half_width / one->of_default);
    }
  }

  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] double known() const { return share(errors_.size(), asked_); }
  [[nodiscard]] double held() const { return share(held_, with_interval_); }
  [[nodiscard]] double exact_share() const {
    return share(
        static_cast<std::size_t>(std::ranges::count_if(errors_, [](double error) { return std::abs(error) <= exact; })),
        errors_.size());
  }
  [[nodiscard]] double median() const { return quantile(errors_, 0.5); }
  [[nodiscard]] double off(double part) const {
    std::vector<double> sizes;
    for (const double error : errors_) {
      sizes.push_back(std::abs(error));
    }
    return quantile(std::move(sizes), part);
  }
  [[nodiscard]] double half_width() const { return quantile(half_widths_, 0.5); }

  static double share(std::size_t some, std::size_t all) {
    return all == 0 ? std::nan("") : static_cast<double>(some) / static_cast<double>(all);
  }
  static double quantile(std::vector<double> values, double part) {
    if (values.empty()) {
      return std::nan("");
    }
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
  }

 private:
  std::size_t asked_ = 0;
  std::size_t with_interval_ = 0;
  std::size_t held_ = 0;
  std::vector<double> errors_;
  std::vector<double> half_widths_;
};

bool claims_saving(const Statement& one) {
  const Joules least = one.said.half_width.value_or(one.of_default * visible);
  return one.said.value > least;
}

Cost default_of(const Played& played) {
  return expected_default(played.script);
}

Seconds trained(const Played& played) {
  return default_of(played).time - played.script.start_up;
}

// All figures of a kind of scripts.
struct Figures {
  std::size_t scripts = 0;
  std::size_t profiled = 0;
  std::size_t long_enough = 0;  // scripts that train 20 s or more
  std::size_t long_profiled = 0;
  std::size_t long_helped = 0;  // of the rest: those that are profiled once the advice is followed
  std::size_t failed = 0;
  std::size_t believed = 0;  // after the last recurrence: something, of the default
  Statements energy;
  Statements default_cost;
  Statements foreseen;  // the same, where it was not just run
  Statements belief;
  Statements saved_cost;
  Statements saved_energy;
  std::vector<double> to_student;  // half-widths of savings, relative to Student's
  Statements stated;               // of scripts that train 10 s or more
  Statements short_runs;           // of those whose default takes less than 2 s
  std::size_t gainless = 0;        // after the last recurrence: the true saving is 0 or less
  std::size_t false_gain = 0;      // of them, reported as a saving
  std::size_t chosen = 0;          // limits, where four recurrences train 20 s or more
  std::size_t well_chosen = 0;
  std::size_t indifferent = 0;  // profiled scripts whose limits cost the same
  std::size_t at_highest = 0;   // of them, that ended under the highest

  std::size_t pairs = 0;         // of recurrences with the same batch size and limit
  std::size_t contradicted = 0;  // of them, that exclude each other

  void add(const Played& played) {
    ++scripts;
    add_pairs(played);
    profiled += played.profiled ? 1 : 0;
    if (trained(played) >= long_training) {
      ++long_enough;
      long_profiled += played.profiled ? 1 : 0;
      long_helped += played.profiled_by_advice.value_or(false) ? 1 : 0;
    }
    failed += played.failure.empty() ? 0 : 1;
    for (std::size_t number = 0; number < played.told.size(); ++number) {
      const Told& told = played.told[number];
      energy.add(told.energy);
      if (default_of(played).time < short_run) {
        short_runs.add(told.saved_cost);
      }
      if (number < settled_in) {
        continue;
      }
      default_cost.add(told.default_cost);
      if (!told.ran_default) {
        foreseen.add(told.default_cost);
      }
      belief.add(told.belief);
      saved_cost.add(told.saved_cost);
      saved_energy.add(told.saved_energy);
      if (told.saved_cost && told.saved_cost->said.half_width && told.student && *told.student > 0.0) {
        to_student.push_back(*told.saved_cost->said.half_width / told.saved_cost->of_default / *told.student);
      }
      if (trained(played) >= Seconds{10}) {
        stated.add(told.saved_cost);
      }
    }
    if (!played.told.empty()) {
      add_last(played, played.told.back());
    }
  }

 private:
  void add_pairs(const Played& played) {
    for (std::size_t a = 0; a < played.told.size(); ++a) {
      for (std::size_t b = a + 1; b < played.told.size(); ++b) {
        const auto& one = played.told[a].saved_part;
        const auto& other = played.told[b].saved_part;
        if (one && other && one->batch_size == other->batch_size && one->limit == other->limit) {
          ++pairs;
          contradicted += std::abs(one->value - other->value) > one->half_width + other->half_width ? 1 : 0;
        }
      }
    }
  }
  void add_last(const Played& played, const Told& last) {
    believed += last.belief ? 1 : 0;
    if (played.profiled && !played.script.limits_matter) {
      ++indifferent;
      at_highest += last.limit == played.script.gpu.limits.max ? 1 : 0;
    }
    if (last.saved_cost && last.saved_cost->truth <= Joules{}) {
      ++gainless;
      false_gain += claims_saving(*last.saved_cost) ? 1 : 0;
    }
    if (trained(played) >= long_training) {
      ++chosen;
      well_chosen += last.over_best && *last.over_best <= exact ? 1 : 0;
    }
  }
};

std::string percent(double part) {
  return std::isnan(part) ? "-" : fmt::format("{:.1f} %", 100.0 * part);
}

struct Kind {
  std::string_view name;
  std::function<bool(const Script&)> has;
};

const std::array<Kind, 5>& kinds() {
  static const std::array<Kind, 5> all{
      {{"limits", [](const Script& s) { return !s.chooses_batch_size && s.scatter == 0.0; }},
       {"limits, scatter", [](const Script& s) { return !s.chooses_batch_size && s.scatter > 0.0; }},
       {"batch sizes", [](const Script& s) { return s.chooses_batch_size && s.scatter == 0.0; }},
       {"batch s., scatter", [](const Script& s) { return s.chooses_batch_size && s.scatter > 0.0; }},
       {"all", [](const Script&) { return true; }}}};
  return all;
}

Figures figures_of(const std::vector<Played>& all, const std::function<bool(const Script&)>& has) {
  Figures figures;
  for (const Played& played : all) {
    if (has(played.script)) {
      figures.add(played);
    }
  }
  return figures;
}

struct Row {
  std::string_view name;
  std::function<std::string(const Figures&)> value;
};

std::string ratio(std::size_t some, std::size_t all) {
  return fmt::format("{} of {}", some, all);
}

std::vector<Row> rows() {
  return {
      {"scripts", [](const Figures& f) { return fmt::format("{}", f.scripts); }},
      {"of which something was thrown", [](const Figures& f) { return fmt::format("{}", f.failed); }},
      {"with a limit profiled", [](const Figures& f) { return ratio(f.profiled, f.scripts); }},
      {"  of those that train 20 s or more", [](const Figures& f) { return ratio(f.long_profiled, f.long_enough); }},
      {"    once the advice is followed",
       [](const Figures& f) { return ratio(f.long_profiled + f.long_helped, f.long_enough); }},
      {"energy of a recurrence: in its interval", [](const Figures& f) { return percent(f.energy.held()); }},
      {"  off by, 95 %", [](const Figures& f) { return percent(f.energy.off(0.95)); }},
      {"from recurrence 4 on", [](const Figures&) { return std::string{}; }},
      {"cost of the default: known", [](const Figures& f) { return percent(f.default_cost.known()); }},
      {"  in its interval", [](const Figures& f) { return percent(f.default_cost.held()); }},
      {"  error, median", [](const Figures& f) { return percent(f.default_cost.median()); }},
      {"  off by, 50 %", [](const Figures& f) { return percent(f.default_cost.off(0.5)); }},
      {"  off by, 95 %", [](const Figures& f) { return percent(f.default_cost.off(0.95)); }},
      {"  where it was not just run: known", [](const Figures& f) { return percent(f.foreseen.known()); }},
      {"    error, median", [](const Figures& f) { return percent(f.foreseen.median()); }},
      {"    off by, 50 %", [](const Figures& f) { return percent(f.foreseen.off(0.5)); }},
      {"    off by, 95 %", [](const Figures& f) { return percent(f.foreseen.off(0.95)); }},
      {"belief of the default: known", [](const Figures& f) { return percent(f.belief.known()); }},
      {"  in its interval", [](const Figures& f) { return percent(f.belief.held()); }},
      {"  half-width, median", [](const Figures& f) { return percent(f.belief.half_width()); }},
      {"  error, median", [](const Figures& f) { return percent(f.belief.median()); }},
      {"  off by, 50 %", [](const Figures& f) { return percent(f.belief.off(0.5)); }},
      {"  off by, 95 %", [](const Figures& f) { return percent(f.belief.off(0.95)); }},
      {"cost saved: known", [](const Figures& f) { return percent(f.saved_cost.known()); }},
      {"  known, where it trains 10 s or more", [](const Figures& f) { return percent(f.stated.known()); }},
      {"  in its interval", [](const Figures& f) { return percent(f.saved_cost.held()); }},
      {"  half-width, median", [](const Figures& f) { return percent(f.saved_cost.half_width()); }},
      {"  off by 2 points or less", [](const Figures& f) { return percent(f.saved_cost.exact_share()); }},
      {"  error, median", [](const Figures& f) { return percent(f.saved_cost.median()); }},
      {"  off by, 50 %", [](const Figures& f) { return percent(f.saved_cost.off(0.5)); }},
      {"  off by, 95 %", [](const Figures& f) { return percent(f.saved_cost.off(0.95)); }},
      {"  half-width against Student's, median",
       [](const Figures& f) { return percent(Statements::quantile(f.to_student, 0.5)); }},
      {"energy saved: in its interval", [](const Figures& f) { return percent(f.saved_energy.held()); }},
      {"  off by, 50 %", [](const Figures& f) { return percent(f.saved_energy.off(0.5)); }},
      {"  off by, 95 %", [](const Figures& f) { return percent(f.saved_energy.off(0.95)); }},
      {"runs under 2 s: savings stated", [](const Figures& f) { return percent(f.short_runs.known()); }},
      {"energy saved by two alike: exclude each other",
       [](const Figures& f) { return percent(Statements::share(f.contradicted, f.pairs)); }},
      {"after the last recurrence", [](const Figures&) { return std::string{}; }},
      {"something believed of the default", [](const Figures& f) { return ratio(f.believed, f.scripts); }},
      {"no saving in truth, said to be one", [](const Figures& f) { return ratio(f.false_gain, f.gainless); }},
      {"limit within 2 % of the best", [](const Figures& f) { return ratio(f.well_chosen, f.chosen); }},
      {"all limits alike, the highest chosen", [](const Figures& f) { return ratio(f.at_highest, f.indifferent); }},
  };
}

std::string by_kind(const std::vector<Played>& all) {
  std::vector<Figures> columns;
  std::string text = fmt::format("{:41}", "");
  for (const Kind& kind : kinds()) {
    columns.push_back(figures_of(all, kind.has));
    text += fmt::format("{:>18}", kind.name);
  }
  text += '\n';
  for (const Row& row : rows()) {
    text += fmt::format("{:41}", row.name);
    for (const Figures& column : columns) {
      text += fmt::format("{:>18}", row.value(column));
    }
    text += '\n';
  }
  return text;
}

std::string by_dialect(const std::vector<Played>& all) {
  std::string text = fmt::format("\n{:22}{:>12}{:>18}{:>14}{:>14}{:>14}{:>18}\n", "by how steps are told", "profiled",
                                 "default foreseen", "its error", "off, 95 %", "saved, 50 %", "limit within 2 %");
  for (std::size_t i = 0; i < dialect_names.size(); ++i) {
    const Figures f =
        figures_of(all, [&](const Script& script) { return static_cast<std::size_t>(script.dialect) == i; });
    text += fmt::format("{:22}{:>12}{:>18}{:>14}{:>14}{:>14}{:>18}\n", dialect_names.at(i),
                        ratio(f.profiled, f.scripts), percent(f.foreseen.known()), percent(f.foreseen.median()),
                        percent(f.foreseen.off(0.95)), percent(f.saved_cost.off(0.5)), ratio(f.well_chosen, f.chosen));
  }
  return text;
}

// Costs that are left out or counted twice show if the start takes long.
std::string by_start(const std::vector<Played>& all) {
  constexpr std::array<double, 4> parts = {0.0, 0.1, 0.5, 1.0};
  std::string text = fmt::format("\n{:36}{:>10}{:>18}{:>14}{:>14}{:>14}\n", "by the start's part of a default run",
                                 "scripts", "default foreseen", "its error", "off, 95 %", "saved, 50 %");
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const Figures f = figures_of(all, [&](const Script& script) {
      const double part = script.start_up / expected_default(script).time;
      return part >= parts.at(i) && part < parts.at(i + 1);
    });
    text += fmt::format("{:36}{:>10}{:>18}{:>14}{:>14}{:>14}\n",
                        fmt::format("{:.0f} % to {:.0f} %", 100.0 * parts.at(i), 100.0 * parts.at(i + 1)), f.scripts,
                        percent(f.foreseen.known()), percent(f.foreseen.median()), percent(f.foreseen.off(0.95)),
                        percent(f.saved_cost.off(0.5)));
  }
  return text;
}

// How often each was reported.
std::string tally(std::string_view title, const std::vector<std::string>& reasons) {
  std::map<std::string, std::size_t> times;
  for (const std::string& reason : reasons) {
    ++times[reason];
  }
  std::string text = times.empty() ? "" : fmt::format("\n{}\n", title);
  for (const auto& [reason, count] : times) {
    text += fmt::format("{:6}  {}\n", count, reason);
  }
  return text;
}

std::string reasons_of(const std::vector<Played>& all) {
  std::vector<std::string> unknown;
  std::vector<std::string> given_up;
  for (const Played& played : all) {
    for (std::size_t number = 0; number < played.told.size(); ++number) {
      const Told& told = played.told[number];
      if (number >= settled_in && !told.saved_cost) {
        unknown.push_back(told.unknown);
      }
      if (!told.reached) {
        // Whatever the batch size is.
        given_up.push_back(std::regex_replace(told.given_up, std::regex{"[0-9]+"}, "N"));
      }
    }
  }
  return tally("why savings are not known, from recurrence 4 on", unknown) +
         tally("why recurrences were given up, whose scripts all reach", given_up);
}

// A line where a floor is not held.
std::string below(std::string_view what, double is, double least) {
  return is < least ? fmt::format("{}: {}, and was {} or more\n", what, percent(is), percent(least)) : "";
}

std::string cell(const std::optional<Statement>& one, const std::function<double(const Statement&)>& part) {
  return one ? fmt::format("{:+.1f}", 100.0 * part(*one)) : "-";
}

}  // namespace

std::string text_of(const Played& played) {
  const Script& s = played.script;
  const Arm& usual = s.arms[s.usual];
  std::string text = fmt::format(
      "script {}: {}, {}, {} expressions{}, scatter {:.2f}, limits {}, start-up {:.1f} s, {:.1f} epochs of {:.2f} s in "
      "{} "
      "steps, of it evaluation {:.2f} s, {} batch sizes{}{}\n",
      s.seed, s.gpu.name(), dialect_names.at(static_cast<std::size_t>(s.dialect)),
      std::array{"no", "all", "the metric's"}.at(static_cast<std::size_t>(s.expressions)),
      s.has_target ? ", a target" : "", s.scatter, s.limits_matter ? "matter" : "do not matter", s.start_up.value(),
      usual.epochs, of_epoch(s, usual, s.gpu.limits.max).time.value(), usual.steps, usual.evaluation.value(),
      s.arms.size(),
      s.change ? fmt::format(", {} x {:.2f} from recurrence {} on",
                             change_names.at(static_cast<std::size_t>(s.change->kind)), s.change->factor,
                             s.change->recurrence + 1)
               : "",
      played.failure.empty() ? "" : "; thrown: " + played.failure);
  const auto error = [](const Statement& one) { return one.error(); };
  const auto said = [](const Statement& one) { return one.said.value / one.of_default; };
  const auto truth = [](const Statement& one) { return one.truth / one.of_default; };
  const auto half_width = [](const Statement& one) { return one.said.half_width.value_or(Joules{}) / one.of_default; };
  text +=
      fmt::format("  {:>3} {:>12} {:>12} {:>14} {:>14} {:>12} {:>8} {:>12} {:>9} {:>12}\n", "", "took, J", "default, J",
                  "default off %", "belief off %", "said saved %", "+- %", "saved %", "limit, W", "limit over %");
  for (std::size_t i = 0; i < played.told.size(); ++i) {
    const Told& t = played.told[i];
    text +=
        fmt::format("  {:>3} {:>12.1f} {:>12.1f} {:>14} {:>14} {:>12} {:>8} {:>12} {:>9} {:>12}{}\n", i + 1,
                    t.cost.truth.value(), t.cost.of_default.value(), cell(t.default_cost, error), cell(t.belief, error),
                    cell(t.saved_cost, said), cell(t.saved_cost, half_width), cell(t.saved_cost, truth),
                    t.limit ? fmt::format("{:.0f}", t.limit->value()) : "-",
                    t.over_best ? fmt::format("{:.1f}", 100.0 * *t.over_best) : "-", t.reached ? "" : "  not reached");
  }
  return text;
}

std::string table_of(const std::vector<Played>& all) {
  return by_kind(all) + by_start(all) + by_dialect(all) + reasons_of(all);
}

std::string changes_of(const std::vector<Played>& all) {
  constexpr int before = 2;
  constexpr int after = 6;
  std::string text = fmt::format("\n{:24}{:>10}{:>20}{:>14}{:>14}{:>14}{:>14}{:>14}{:>14}\n",
                                 "recurrences since change", "stated", "it trains 10 s: st.", "in interval",
                                 "within 2 pts", "by it, 50 %", "by it, 95 %", "all, 50 %", "all, 95 %");
  for (int since = -before; since < after; ++since) {
    Statements by_it;
    Statements by_long;
    Statements by_all;
    for (const Played& played : all) {
      const int number = played.script.change ? played.script.change->recurrence + since : -1;
      if (number >= 0 && number < static_cast<int>(played.told.size())) {
        by_it.add(played.told[static_cast<std::size_t>(number)].saved_by_it);
        if (trained(played) >= Seconds{10}) {
          by_long.add(played.told[static_cast<std::size_t>(number)].saved_by_it);
        }
        by_all.add(played.told[static_cast<std::size_t>(number)].saved_cost);
      }
    }
    text += fmt::format("{:<24}{:>10}{:>20}{:>14}{:>14}{:>14}{:>14}{:>14}{:>14}\n", since, percent(by_it.known()),
                        percent(by_long.known()), percent(by_all.held()), percent(by_it.exact_share()),
                        percent(by_it.off(0.5)), percent(by_it.off(0.95)), percent(by_all.off(0.5)),
                        percent(by_all.off(0.95)));
  }
  return text;
}

std::string lateness_of(const std::vector<Played>& all) {
  std::vector<double> late;
  for (const Played& played : all) {
    late.insert(late.end(), played.late.begin(), played.late.end());
  }
  return fmt::format(
      "\n{} runs came to their end later than by their law: 50 % by {} of the run, 95 % by {}, all by {}\n",
      late.size(), percent(Statements::quantile(late, 0.5)), percent(Statements::quantile(late, 0.95)),
      percent(Statements::quantile(late, 1.0)));
}

std::string failures_of(const std::vector<Played>& all) {
  std::string failures;
  for (const Played& played : all) {
    if (!played.failure.empty()) {
      failures += fmt::format("script {}: {}\n", played.script.seed, played.failure);
    }
  }
  return failures;
}

std::string broken_floors(const std::vector<Played>& all) {
  const Figures figures = figures_of(all, kinds().back().has);
  const Figures limits = figures_of(all, [](const Script& script) { return !script.chooses_batch_size; });
  const Figures sure = figures_of(all, kinds().front().has);
  std::string broken;
  const auto floor = [&](std::string_view what, double is, double least) { broken += below(what, is, least); };
  const auto share = &Statements::share;
  floor("energy of a recurrence in its interval", figures.energy.held(), 0.92);
  floor("energy of a recurrence, off by 2 % or less", figures.energy.exact_share(), 0.97);
  floor("limits only: savings stated, where it trains 10 s or more", limits.stated.known(), 0.85);
  floor("limits only, no scatter: savings off by 2 points or less", sure.saved_cost.exact_share(), 0.8);
  floor("limits only: savings in their interval", limits.saved_cost.held(), 0.92);
  floor("savings in their interval", figures.saved_cost.held(), 0.92);
  floor("limits within 2 % of the best", share(figures.well_chosen, figures.chosen), 0.85);
  floor("limits only, all alike: the highest chosen", share(limits.at_highest, limits.indifferent), 0.7);
  floor("truths of no saving, not said to be one", 1.0 - share(figures.false_gain, figures.gainless), 0.95);
  floor("energy saved by two alike: agree", 1.0 - share(figures.contradicted, figures.pairs), 0.95);
  return broken;
}

std::string broken_floors_of_footing(const std::vector<Played>& all) {
  const Figures figures = figures_of(all, kinds().back().has);
  return below("scripts of which a limit is profiled", Statements::share(figures.profiled, figures.scripts), 0.7) +
         below("of those that train 20 s or more, once the advice is followed",
               Statements::share(figures.long_profiled + figures.long_helped, figures.long_enough), 0.95);
}

std::string broken_floors_of_processes(const std::vector<Played>& all) {
  const Figures figures = figures_of(all, kinds().back().has);
  return below("energy of a recurrence in its interval", figures.energy.held(), 0.9) +
         below("cost of the default in its interval", figures.default_cost.held(), 0.9) +
         below("savings in their interval", figures.saved_cost.held(), 0.9);
}

}  // namespace zeus::truth
