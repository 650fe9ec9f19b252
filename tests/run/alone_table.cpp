#include "tests/run/alone_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zeus::truth {

namespace {

struct Count {
  int yes = 0;
  int all = 0;

  void add(bool hit) {
    yes += hit ? 1 : 0;
    ++all;
  }
  [[nodiscard]] double part() const { return all == 0 ? 1.0 : static_cast<double>(yes) / all; }
};

bool holds(const optimize::RelativeChange& stated, double truth) {
  return std::abs(stated.value - truth) <= stated.half_width;
}

bool holds(const run::RunsToRegain& stated, double truth) {
  return stated.least <= std::max(truth, 0.0) && truth <= stated.most;
}

bool says_less(const optimize::RelativeChange& stated) {
  return stated.is_known() && stated.value < 0.0;
}

bool exclude_each_other(const optimize::RelativeChange& a, const optimize::RelativeChange& b) {
  return std::abs(a.value - b.value) > a.half_width + b.half_width;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0.0;
  }
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

// Such that a saving must be found.
bool is_plain(const Script& script) {
  return script.step_scatter <= 0.05 && script.drift == 0.0 && script.arms.front().epochs >= 20.0;
}

// Evaluation between steps that only go on counting.
bool evaluates_silently(const Script& script) {
  const bool counts_on = script.dialect == Dialect::tqdm_whole || script.dialect == Dialect::plain_whole ||
                         script.dialect == Dialect::nth_whole || script.dialect == Dialect::hugging_face;
  return counts_on && script.expressions == Expressions::usual && script.evaluation_bar == 0 &&
         script.arms.front().evaluation > Seconds{};
}

}  // namespace

std::string text_of(const PlayedAlone& played) {
  const Script& script = played.script;
  const std::string text = fmt::format(
      "script {}: {} epochs of {:.3g} s in {} steps, {:.0f} % scatter, {:.0f} % drift, {}{}{}: ", script.seed,
      script.arms.front().epochs, (script.arms.front().step * static_cast<double>(script.arms.front().steps)).value(),
      script.arms.front().steps, 100.0 * script.step_scatter, 100.0 * script.drift,
      dialect_names[static_cast<std::size_t>(script.dialect)],
      script.evaluation_bar > 0 ? " and a bar of evaluation" : "",
      script.expressions == Expressions::usual ? ", usual expressions" : "");
  if (!played.stated) {
    return text + (played.unoptimized.empty() ? "the highest limit\n" : played.unoptimized + '\n');
  }
  const run::LimitChange& stated = *played.stated;
  const std::string runs = stated.regained
                               ? fmt::format("regained after {:.2f} to {:.2f} runs (true {:.2f})",
                                             stated.regained->least, stated.regained->most, played.runs_to_regain)
                               : std::string{"not said to be regained"};
  return text +
         fmt::format(
             "{:.0f} W, energy {:+.1f} +- {:.1f} % (true {:+.1f}), time {:+.1f} +- {:.1f} % (true {:+.1f}), {}{}\n",
             stated.setting.limit.value(), 100.0 * stated.step.energy.value, 100.0 * stated.step.energy.half_width,
             100.0 * played.energy, 100.0 * stated.step.time.value, 100.0 * stated.step.time.half_width,
             100.0 * played.time, runs,
             holds(stated.step.energy, played.energy) && holds(stated.step.time, played.time) ? "" : " MISSED");
}

AloneTable table_of_alone(const std::vector<std::array<PlayedAlone, 2>>& all) {
  Count chosen;
  Count energy;
  Count time;
  Count drifting;
  Count scattering;
  Count silent;
  Count found;
  Count invented;
  Count contradicted;
  Count regained;
  Count within;
  std::vector<double> widths;
  std::vector<double> regrets;
  for (const std::array<PlayedAlone, 2>& pair : all) {
    for (const PlayedAlone& one : pair) {
      chosen.add(one.unoptimized.empty());
      if (one.unoptimized.empty() && !one.script.limits_matter) {
        invented.add(one.stated && says_less(one.stated->step.energy) && one.energy > -0.005);
      }
      if (one.regret) {
        regrets.push_back(*one.regret);
      }
      if (!one.stated) {
        continue;
      }
      if (one.stated->regained) {
        regained.add(holds(*one.stated->regained, one.runs_to_regain));
        within.add(one.stated->regained->most <= 1.0);
      }
      const bool right = holds(one.stated->step.energy, one.energy) && holds(one.stated->step.time, one.time);
      energy.add(holds(one.stated->step.energy, one.energy));
      time.add(holds(one.stated->step.time, one.time));
      if (one.script.drift != 0.0) {
        drifting.add(right);
      }
      if (one.script.step_scatter > 0.05) {
        scattering.add(right);
      }
      if (evaluates_silently(one.script)) {
        silent.add(right);
      }
      if (is_plain(one.script) && one.energy <= -0.10) {
        found.add(says_less(one.stated->step.energy));
        widths.push_back(one.stated->step.energy.half_width);
      }
    }
    if (pair[0].stated && pair[1].stated && pair[0].stated->setting == pair[1].stated->setting) {
      contradicted.add(exclude_each_other(pair[0].stated->step.energy, pair[1].stated->step.energy) ||
                       exclude_each_other(pair[0].stated->step.time, pair[1].stated->step.time));
    }
  }
  AloneTable table;
  const auto line = [&](const char* what, const Count& count) {
    table.text += fmt::format("{:<60}{:>7.1f} % of {}\n", what, 100.0 * count.part(), count.all);
  };
  line("all limits measured", chosen);
  line("the true change of energy in its interval", energy);
  line("the true change of time in its interval", time);
  line("both, of steps that drift", drifting);
  line("both, of steps that scatter by more than 5 %", scattering);
  line("both, of evaluation that shows nothing", silent);
  line("plain scripts that save 10 %: said to save", found);
  table.text += fmt::format("{:<60}{:>7.1f} points\n", "  half-width, median", 100.0 * median(widths));
  table.text += fmt::format("{:<60}{:>7.2f} %\n", "cost above that of the best limit, mean", 100.0 * mean(regrets));
  line("comparing limits is regained after as many runs as stated", regained);
  line("  of them within the run", within);
  line("nothing to save, said to save", invented);
  line("played twice: intervals that exclude each other", contradicted);
  const auto floor = [&](bool held, const char* what) {
    table.broken += held ? "" : fmt::format("floor violated: {}\n", what);
  };
  floor(energy.part() >= 0.92, "the true change of energy lies in its interval in 92 %");
  floor(time.part() >= 0.92, "the true change of time lies in its interval in 92 %");
  floor(silent.all < 50 || silent.part() >= 0.88,
        "both lie in their intervals in 88 % of those whose evaluation shows nothing");
  floor(regained.part() >= 0.92, "comparing limits is regained after as many runs as stated in 92 %");
  floor(found.part() >= 0.90, "a saving of 10 % is found in 90 % of plain scripts");
  floor(median(widths) <= 0.05, "the half-width of plain scripts is at most 5 points");
  floor(invented.all == 0 || invented.part() <= 0.04, "at most 4 % of those that save nothing are said to save");
  floor(contradicted.all == 0 || contradicted.part() <= 0.05, "at most 5 % contradict themselves");
  return table;
}

}  // namespace zeus::truth
