#include "research/paper_scorecard.hpp"

#include "research/paper_trials.hpp"
#include "research/repetition.hpp"
#include "research/shared_training.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace zeus::research {

namespace {

using records::ChartPoint;
using records::XyChart;

// A number of the paper agrees only with a range that is no wider than so much of it.
constexpr double widest = 0.2;
// Energy over the batch size may fall by so much on its way up: four runs of each batch size scatter as much.
constexpr double dent = 0.05;

// How a number is written: its factor, decimals and unit.
struct Style {
  double factor = 1.0;
  int decimals = 1;
  std::string_view unit = {};
  bool sign = false;
};

constexpr Style percent{.factor = 100.0, .decimals = 1, .unit = " %"};
constexpr Style change{.factor = 100.0, .decimals = 1, .unit = " %", .sign = true};
constexpr Style small_change{.factor = 100.0, .decimals = 2, .unit = " %", .sign = true};
constexpr Style as_factor{.factor = 1.0, .decimals = 1, .unit = " times"};
constexpr Style fraction{.factor = 1.0, .decimals = 3};

std::string written(double value, const Style& style) {
  double shown = style.factor * value;
  if (std::abs(shown) < 0.5 * std::pow(10.0, -style.decimals)) {
    shown = 0.0;  // without a sign
  }
  return style.sign && shown != 0.0 ? fmt::format("{:+.{}f}", shown, style.decimals)
                                    : fmt::format("{:.{}f}", shown, style.decimals);
}

std::string written(const Repetition& found, const Style& style) {
  const std::string value = written(found.value, style) + std::string{style.unit};
  return found.low ? fmt::format("{} ({} to {})", value, written(*found.low, style), written(*found.high, style))
                   : fmt::format("{} (one seed)", value);
}

// Two values of each seed become one.
template <typename Of>
std::vector<double> of_pairs(std::vector<double> first, const std::vector<double>& second, const Of& of) {
  std::ranges::transform(first, second, first.begin(), of);
  return first;
}

std::vector<double> quotients(std::vector<double> above, const std::vector<double>& below) {
  return of_pairs(std::move(above), below, [](double a, double b) { return a / b; });
}

// The highest of the jobs' ratios, for each seed.
std::vector<double> ratios_of_regret(const records::FindingsSamples& above, const records::FindingsSamples& below) {
  std::vector<double> highest(above.values.front().size(), 0.0);
  for (std::size_t job = 0; job < above.values.size(); ++job) {
    highest = of_pairs(std::move(highest), quotients(above.values[job], below.values[job]),
                       [](double a, double b) { return std::max(a, b); });
  }
  return highest;
}

class Scorecard {
 public:
  Scorecard(const std::vector<records::FindingsSection>& sections, const ScorecardSetting& setting)
      : sections_{sections}, setting_{setting} {}

  std::vector<records::ScorecardRow> take() && {
    potential();
    choices();
    convergence();
    missing("cluster_energy", "6.3, figure 9", "energy of a cluster's jobs against Default", "-52 % to -7 %",
            "the published file of groups is not given; this figure waits for it (`zeus simulate cluster --groups`)");
    missing("cluster_time", "6.3, figure 9", "their training time", "-33 % to +16 %",
            "as above; the section on a cluster replays generated groups");
    slices();
    profiling();
    goodput("time", "1.12 times");
    goodput("energy", "0.79 times");
    sensitivity();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] const records::FindingsSection& section(std::string_view begins) const {
    const auto place = std::ranges::find_if(
        sections_, [&](const records::FindingsSection& one) { return one.title.starts_with(begins); });
    if (place == sections_.end()) {
      throw Error{ErrorKind::internal, fmt::format("the study has no section '{}'", begins)};
    }
    return *place;
  }

  [[nodiscard]] bool has_section(std::string_view begins) const {
    return std::ranges::any_of(sections_,
                               [&](const records::FindingsSection& one) { return one.title.starts_with(begins); });
  }

  [[nodiscard]] const records::FindingsSamples& samples_of(std::string_view key) const {
    for (const records::FindingsSection& one : sections_) {
      for (const records::FindingsFigure& figure : one.figures) {
        const auto* const found = std::get_if<records::FindingsSamples>(&figure);
        if (found != nullptr && found->key == key) {
          return *found;
        }
      }
    }
    throw Error{ErrorKind::internal, fmt::format("the study has no samples '{}'", key)};
  }

  // `of` of the values of all jobs, for each seed.
  template <typename Of>
  [[nodiscard]] static std::vector<double> by_seed(const records::FindingsSamples& all, const Of& of) {
    std::vector<double> results;
    for (std::size_t seed = 0; seed < all.values.front().size(); ++seed) {
      std::vector<double> values;
      for (const std::vector<double>& job : all.values) {
        values.push_back(job[seed]);
      }
      results.push_back(of(values));
    }
    return results;
  }

  [[nodiscard]] std::string of_models(std::string of_traces) const {
    return setting_.of_traces ? std::move(of_traces)
                              : "the built-in models are fitted to some of the traces, and are not the traces";
  }

  void add(records::ScorecardRow row, const Repetition& found, const Style& style, records::Verdict verdict,
           std::string reason) {
    row.value = found.value;
    row.low = found.low;
    row.high = found.high;
    row.here = written(found, style);
    row.verdict = verdict;
    row.reason = std::move(reason);
    rows_.push_back(std::move(row));
  }

  // A number of the paper, beside one that scatters from seed to seed.
  void number(records::ScorecardRow row, double paper, const Repetition& found, const Style& style,
              std::string why_differs, std::string note = {}) {
    records::Verdict verdict = records::Verdict::too_uncertain;
    if (found.low && (paper < *found.low || paper > *found.high)) {
      verdict = records::Verdict::differs;
    } else if (found.low && *found.high - *found.low <= widest * std::abs(paper)) {
      verdict = records::Verdict::agrees;
    }
    row.paper = written(paper, style) + std::string{style.unit};
    add(std::move(row), found, style, verdict,
        verdict == records::Verdict::differs ? std::move(why_differs) : std::move(note));
  }

  // A number of the paper, beside one that no seed changes.
  void exact(records::ScorecardRow row, double paper, double here, const Style& style, std::string why_differs) {
    const bool same = written(here, style) == written(paper, style);
    row.paper = written(paper, style) + std::string{style.unit};
    row.value = here;
    row.here = written(here, style) + std::string{style.unit};
    row.verdict = same ? records::Verdict::agrees : records::Verdict::differs;
    row.reason = same ? "" : std::move(why_differs);
    rows_.push_back(std::move(row));
  }

  // A claim without a number: that something lies above or below a bound.
  void bound(records::ScorecardRow row, double at, bool above, const Repetition& found, const Style& style,
             const std::string& criterion, const std::string& why_differs) {
    records::Verdict verdict = records::Verdict::too_uncertain;
    if (found.low) {
      const bool holds = above ? *found.low > at : *found.high < at;
      const bool fails = above ? *found.high < at : *found.low > at;
      verdict = holds ? records::Verdict::agrees : (fails ? records::Verdict::differs : verdict);
    }
    row.paper = "no number";
    std::string reason = fmt::format("{}: {} {}", criterion, above ? "above" : "below", written(at, style));
    if (verdict == records::Verdict::differs) {
      reason += "; " + why_differs;
    }
    add(std::move(row), found, style, verdict, std::move(reason));
  }

  // A claim that has to hold for all of `of`.
  void counted(records::ScorecardRow row, std::size_t holds, std::size_t of, std::string criterion) {
    row.paper = row.paper.empty() ? "no number" : row.paper;
    row.value = static_cast<double>(holds);
    row.here = fmt::format("{} of {}", holds, of);
    row.verdict = holds == of ? records::Verdict::agrees : records::Verdict::differs;
    row.reason = std::move(criterion);
    rows_.push_back(std::move(row));
  }

  void missing(std::string key, std::string where, std::string claim, std::string paper, std::string what) {
    rows_.push_back({.key = std::move(key),
                     .where = std::move(where),
                     .claim = std::move(claim),
                     .paper = std::move(paper),
                     .here = {},
                     .value = {},
                     .low = {},
                     .high = {},
                     .verdict = records::Verdict::not_repeated,
                     .reason = std::move(what)});
  }

  static records::ScorecardRow row(std::string key, std::string where, std::string claim) {
    return {.key = std::move(key),
            .where = std::move(where),
            .claim = std::move(claim),
            .paper = {},
            .here = {},
            .value = {},
            .low = {},
            .high = {},
            .reason = {}};
  }

  void potential();
  void choices();
  void convergence();
  void slices();
  void goodput(std::string_view of, std::string paper);
  void profiling();
  void sensitivity();

  const std::vector<records::FindingsSection>& sections_;
  const ScorecardSetting& setting_;
  std::vector<records::ScorecardRow> rows_;
};

// The least and the most that is saved, and the jobs.
struct Savings {
  double least = 1.0;
  double most = 0.0;
  std::string job_of_least;
  std::string job_of_most;
};

Savings savings_of(const records::BarChart& chart, std::size_t series) {
  Savings savings;
  for (std::size_t job = 0; job < chart.groups.size(); ++job) {
    if (const std::optional<double> value = chart.series[series].values[job]) {
      if (1.0 - *value < savings.least) {
        savings.least = 1.0 - *value;
        savings.job_of_least = chart.groups[job];
      }
      if (1.0 - *value > savings.most) {
        savings.most = 1.0 - *value;
        savings.job_of_most = chart.groups[job];
      }
    }
  }
  return savings;
}

// Whether energy falls to its lowest point and rises after it, but for dents.
bool has_one_valley(const std::vector<ChartPoint>& points) {
  const auto lowest = std::ranges::min_element(points, {}, &ChartPoint::y);
  for (auto point = points.begin(); point != points.end() && point + 1 != points.end(); ++point) {
    const double step = (point + 1)->y / point->y;
    if (point < lowest ? step > 1.0 + dent : step < 1.0 - dent) {
      return false;
    }
  }
  return true;
}

void Scorecard::potential() {
  for (const records::FindingsFigure& figure : section("What could be saved").figures) {
    const auto* const chart = std::get_if<records::BarChart>(&figure);
    if (chart == nullptr || chart->title != setting_.main_gpu) {
      continue;
    }
    struct Range {
      std::string_view key;
      std::string_view what;
      double least;
      double most;
    };
    constexpr std::array ranges{Range{"batch_size_alone", "the best batch size alone saves", 0.034, 0.650},
                                Range{"limit_alone", "the best power limit alone saves", 0.030, 0.315},
                                Range{"both", "both together save", 0.238, 0.747}};
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Savings found = savings_of(*chart, i);
      const auto why = [&](const std::string& job) {
        return of_models(fmt::format("the traces give this number, by the runs of {} alone", job));
      };
      exact(row(fmt::format("{}_least", ranges[i].key), "2.2, figure 1", fmt::format("{} at least", ranges[i].what)),
            ranges[i].least, found.least, percent, why(found.job_of_least));
      exact(row(fmt::format("{}_most", ranges[i].key), "2.2, figure 1", fmt::format("{} up to", ranges[i].what)),
            ranges[i].most, found.most, percent, why(found.job_of_most));
    }
  }
  for (const records::FindingsFigure& figure : section("Time against energy").figures) {
    const auto* const table = std::get_if<records::FindingsTable>(&figure);
    const auto* const chart = std::get_if<XyChart>(&figure);
    if (table != nullptr) {
      const auto speech = std::ranges::find(table->rows, "DeepSpeech2", [](const auto& cells) { return cells[0]; });
      if (speech == table->rows.end()) {
        continue;
      }
      constexpr std::array<std::pair<std::string_view, std::string_view>, 2> best{
          {{"time", "(48, 250 W)"}, {"energy", "(32, 100 W)"}}};
      for (std::size_t i = 0; i < best.size(); ++i) {
        records::ScorecardRow one =
            row(fmt::format("best_for_{}", best[i].first), "2.3, figure 2",
                fmt::format("the best batch size and limit of DeepSpeech2 for {}", best[i].first));
        one.paper = best[i].second;
        one.here = (*speech)[i == 0 ? 1 : 3];
        one.verdict = one.here == one.paper ? records::Verdict::agrees : records::Verdict::differs;
        one.reason = one.verdict == records::Verdict::agrees ? "" : of_models("the traces give another one");
        rows_.push_back(std::move(one));
      }
    } else if (chart != nullptr && chart->title == "DeepSpeech2") {
      const std::vector<ChartPoint>& front = chart->series[1].points;
      const std::vector<ChartPoint>& chosen = chart->series[3].points;
      const auto on_front = std::ranges::count_if(chosen, [&](const ChartPoint& point) {
        return std::ranges::any_of(front,
                                   [&](const ChartPoint& other) { return other.x == point.x && other.y == point.y; });
      });
      counted(row("eta_on_front", "6.7, figure 11", "the best of each eta lies close to the Pareto front"),
              static_cast<std::size_t>(on_front), chosen.size(), "on it, for eta from 0 to 1 in steps of 0.1");
    }
  }
  std::size_t valleys = 0;
  std::size_t below = 0;
  std::size_t jobs = 0;
  for (const records::FindingsFigure& figure : section("Energy over each knob").figures) {
    const auto* const chart = std::get_if<XyChart>(&figure);
    if (chart == nullptr || chart->series.front().points.empty()) {
      continue;
    }
    const std::vector<ChartPoint>& points = chart->series.front().points;
    if (chart->x.label == "batch size") {
      ++jobs;
      valleys += has_one_valley(points) ? 1 : 0;
    } else {
      below += std::ranges::min_element(points, {}, &ChartPoint::y) + 1 != points.end() ? 1 : 0;
    }
  }
  counted(row("convex", "4.4, figures 5 and 17", "energy over the batch size is convex around its lowest point"),
          valleys, jobs, "jobs whose energy falls to one lowest point and rises after it, but for dents of 5 %");
  counted(row("below_highest_limit", "2.2, figure 18", "the least energy is at a limit below the highest"), below, jobs,
          "jobs, at their default batch size");
}

void Scorecard::choices() {
  std::size_t sizes = 0;
  std::size_t twice = 0;
  for (const records::FindingsFigure& figure : section("How batch sizes are chosen").figures) {
    if (const auto* const chart = std::get_if<XyChart>(&figure)) {
      std::vector<double> used;
      for (const ChartPoint& point : chart->series[1].points) {
        used.push_back(point.y);
      }
      std::ranges::sort(used);
      const auto repeated = std::ranges::unique(used);
      used.erase(repeated.begin(), repeated.end());
      for (const double size : used) {
        ++sizes;
        twice += std::ranges::count(chart->series[0].points, size, &ChartPoint::y) == 2 ? 1 : 0;
      }
    }
  }
  records::ScorecardRow one =
      row("explored_twice", "4.4, figure 4", "each batch size that stays in the choice was explored before");
  one.paper = "2 times";
  counted(std::move(one), twice, sizes, "batch sizes chosen by belief that were explored exactly twice, over all jobs");
}

void Scorecard::convergence() {
  const records::FindingsSamples& energy = samples_of("energy_on_" + setting_.main_gpu);
  const records::FindingsSamples& time = samples_of("time_on_" + setting_.main_gpu);
  const auto least = [](const std::vector<double>& values) { return std::ranges::min(values); };
  const auto most = [](const std::vector<double>& values) { return std::ranges::max(values); };
  const auto saved = [](std::vector<double> ratios) {
    for (double& one : ratios) {
      one = 1.0 - one;
    }
    return ratios;
  };
  const auto changed = [](std::vector<double> ratios) {
    for (double& one : ratios) {
      one -= 1.0;
    }
    return ratios;
  };
  number(row("saved_least", "6.2, figure 6", "zeus saves at least, once it has converged"), 0.153,
         repetition_of(saved(by_seed(energy, most))), percent,
         of_models("the best configuration of the traces saves more for each job than the paper's least"));
  number(row("saved_most", "6.2, figure 6", "zeus saves up to"), 0.758, repetition_of(saved(by_seed(energy, least))),
         percent, of_models("75.8 % lies beyond the optimum of the paper's own traces, which saves 74.7 % on average"),
         setting_.of_traces
             ? "beyond the optimum of the paper's own traces, which saves 74.7 % on average; the last five "
               "runs scatter about it"
             : "");
  number(row("faster_most", "6.2, figure 6", "zeus reduces training time by up to"), 0.601,
         repetition_of(saved(by_seed(time, least))), percent,
         of_models("the best configuration of the traces is faster than the paper's figure"));
  number(row("slower_most", "6.2, figure 6", "zeus increases training time by at most"), 0.128,
         repetition_of(changed(by_seed(time, most))), change,
         of_models("the best configuration of the traces for eta 0.5 costs no job as much time"));
  const std::vector<double> less = ratios_of_regret(samples_of("regret_of_zeus"), samples_of("regret_of_grid"));
  bound(row("less_regret", "6.2, figures 7 and 19", "zeus has less regret than Grid search for every job"), 1.0, false,
        repetition_of(less), fraction, "the highest of the jobs' ratios of regret, at the end",
        "the regret of some job is no less than Grid search's");
  const std::vector<double> worst = ratios_of_regret(samples_of("regret_of_grid"), samples_of("regret_of_zeus"));
  number(row("grid_regret", "6.2", "Grid search has up to so many times zeus's regret"), 72.0, repetition_of(worst),
         as_factor,
         "ours is at the end of all recurrences, and the paper's until convergence, which it does not define");
  const records::FindingsSamples& grid = samples_of("grid_ends_at_optimum");
  const auto speech = std::ranges::find(grid.groups, "DeepSpeech2");
  if (speech != grid.groups.end()) {
    const std::vector<double>& seeds = grid.values[static_cast<std::size_t>(speech - grid.groups.begin())];
    const auto off = std::ranges::count(seeds, 0.0);
    records::ScorecardRow one = row("grid_misses", "6.2, figure 8", "Grid search may not find the best of DeepSpeech2");
    one.paper = "no number";
    one.value = static_cast<double>(off);
    one.here = fmt::format("in {} of {} seeds", off, seeds.size());
    one.verdict = off > 0 ? records::Verdict::agrees : records::Verdict::too_uncertain;
    one.reason = "seeds in which its last run is not of the optimum: above 0";
    rows_.push_back(std::move(one));
  }
}

void Scorecard::slices() {
  missing("capriccio", "6.4, figure 10", "drift leads to another batch size", "no number",
          "BERT on Capriccio was not trained; the section on drift lets a trace drift instead");
  if (has_section("Slices of")) {
    const std::vector<std::vector<double>>& until = samples_of("slices_until_another_of_zeus").values;
    const auto noticed = [](const std::vector<double>& seeds) {
      return std::ranges::count_if(seeds, [](double one) { return one > 0.0 && one <= 10.0; });
    };
    rows_.back().here = fmt::format("an analogue: in {} of {} seeds, and in {} without drift", noticed(until.front()),
                                    until.front().size(), noticed(until.back()));
    rows_.back().reason =
        "BERT on Capriccio was not trained; the analogue is a small classifier really trained on slices of "
        "tweets, and counts seeds with another batch size within 10 recurrences";
  }
}

void Scorecard::goodput(std::string_view of, std::string paper) {
  missing(fmt::format("pollux_{}", of), "6.6", fmt::format("{} on four A40 against Pollux", of), std::move(paper),
          "there is no trace of Pollux, nor of one training on several GPUs; --goodput trains an analogue");
  if (has_section("Four GPUs")) {
    // At eta 0.5.
    const records::FindingsSamples& found = samples_of(fmt::format("goodput_{}_of_zeus_{}", of, interconnects[1].key));
    rows_.back().here =
        fmt::format("an analogue gives {}", written(repetition_of(found.values[found.values.size() / 2]), fraction));
    rows_.back().reason =
        "neither Pollux nor DeepSpeech2 was run; the analogue is a small network really trained, with modelled times "
        "and "
        "powers, beside the same training whose batch size follows its goodput";
  }
}

void Scorecard::profiling() {
  struct Stated {
    std::string_view key;
    std::string_view job;
    std::string_view of;
    std::string_view what;
    double paper;
    Style style;
  };
  constexpr std::array all{
      Stated{"profiling_energy_of_speech", "DeepSpeech2", "profiling_energy", "energy", 0.0001, small_change},
      Stated{"profiling_time_of_speech", "DeepSpeech2", "profiling_time", "time", 0.0003, small_change},
      Stated{"profiling_energy_of_shufflenet", "ShuffleNet V2", "profiling_energy", "energy", -0.028, change},
      Stated{"profiling_time_of_shufflenet", "ShuffleNet V2", "profiling_time", "time", 0.006, change}};
  for (const Stated& one : all) {
    const records::FindingsSamples& found = samples_of(one.of);
    const auto job = std::ranges::find(found.groups, one.job);
    if (job != found.groups.end()) {
      exact(
          row(std::string{one.key}, "6.5", fmt::format("profiling changes the {} of {} by", one.what, one.job)),
          one.paper, found.values[static_cast<std::size_t>(job - found.groups.begin())].front(), one.style,
          "the paper measured single runs, whose own scatter is larger than what profiling costs; this replays means");
    }
  }
}

void Scorecard::sensitivity() {
  const auto mean = [](const std::vector<double>& values) { return geometric_mean(values); };
  bound(row("eta_energy", "6.7, figure 22", "a higher eta saves more energy"), 1.0, false,
        repetition_of(
            quotients(by_seed(samples_of("energy_at_eta_1.0"), mean), by_seed(samples_of("energy_at_eta_0.0"), mean))),
        fraction, "energy at eta 1 / at eta 0, geometric mean of the jobs", "it does not here");
  bound(row("eta_time", "6.7, figure 22", "a lower eta saves more time"), 1.0, false,
        repetition_of(
            quotients(by_seed(samples_of("time_at_eta_0.0"), mean), by_seed(samples_of("time_at_eta_1.0"), mean))),
        fraction, "time at eta 0 / at eta 1, geometric mean of the jobs", "it does not here");
  std::vector<double> others;
  for (const std::string_view beta : {"1.5", "2.5", "3.0", "3.5", "4.0", "4.5", "5.0"}) {
    const std::vector<double> one = quotients(by_seed(samples_of(fmt::format("energy_at_beta_{}", beta)), mean),
                                              by_seed(samples_of("energy_at_beta_2.0"), mean));
    others = others.empty() ? one : of_pairs(std::move(others), one, [](double a, double b) { return std::min(a, b); });
  }
  bound(row("beta", "6.7, figure 12", "no beta takes less energy than 2"), 1.0, true, repetition_of(others), fraction,
        "energy of the best other beta / that of beta 2, geometric mean of the jobs",
        "some other beta takes a little less");
  const std::vector<double> stopping = by_seed(samples_of("cost_without_early_stopping"), mean);
  const std::vector<double> pruning = by_seed(samples_of("cost_without_pruning"), mean);
  const std::vector<double> profiled = by_seed(samples_of("cost_without_profiling"), mean);
  std::vector<double> lead;
  for (std::size_t seed = 0; seed < stopping.size(); ++seed) {
    lead.push_back(stopping[seed] / std::max(pruning[seed], profiled[seed]));
  }
  bound(row("early_stopping", "6.7, figure 13", "zeus benefits most from early stopping"), 1.0, true,
        repetition_of(lead), fraction,
        "cost without it / the higher of those without pruning and without profiling, geometric mean of the jobs",
        "without pruning a batch size that failed is tried again, which costs most where epochs are expensive");
  std::vector<double> highest;
  for (const std::string& gpu : setting_.gpus) {
    const std::vector<double> one = by_seed(samples_of("energy_on_" + gpu), mean);
    highest =
        highest.empty() ? one : of_pairs(std::move(highest), one, [](double a, double b) { return std::max(a, b); });
  }
  bound(row("gpus", "6.7, figures 14 and 23",
            fmt::format("zeus saves energy on each GPU model ({})", fmt::join(setting_.gpus, ", "))),
        1.0, false, repetition_of(highest), fraction,
        "energy / Default's, geometric mean of the jobs, the GPU that saves least", "it does not here");
  std::vector<std::string> without;
  for (const std::string_view gpu : {"A40", "V100", "RTX6000", "P100"}) {
    if (std::ranges::find(setting_.gpus, gpu) == setting_.gpus.end()) {
      without.emplace_back(gpu);
    }
  }
  if (!without.empty()) {
    missing("other_gpus", "6.7, figures 14 and 23", fmt::format("the same on {}", fmt::join(without, ", ")),
            "no number", "no power trace of them is given");
  }
}

}  // namespace

std::vector<records::ScorecardRow> scorecard(const std::vector<records::FindingsSection>& sections,
                                             const ScorecardSetting& setting) {
  return Scorecard{sections, setting}.take();
}

}  // namespace zeus::research
