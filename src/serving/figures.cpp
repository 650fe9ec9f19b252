#include "serving/figures.hpp"

#include "serving/estimates.hpp"
#include "serving/steady_window.hpp"
#include "serving/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::serving {

namespace {

constexpr std::size_t parts_of_window = 20;
constexpr Seconds late{0.01};

Figure figure_of(const Interval& interval) {
  return {.value = interval.value, .uncertainty = interval.half_width};
}

std::optional<Figure> figure_of(const std::optional<Interval>& interval) {
  return interval ? std::optional{figure_of(*interval)} : std::nullopt;
}

// The steady window, cut into parts.
class Window {
 public:
  Window(std::span<const Slice> slices, std::span<const Tally> tallies, const SteadyWindow& window)
      : slices_{slices}, tallies_{tallies}, window_{&window}, batches_{batches_of(window, parts_of_window)} {}

  [[nodiscard]] std::size_t parts() const { return batches_.size(); }
  [[nodiscard]] Instant begin() const { return slices_[window_->first].begin; }
  [[nodiscard]] std::span<const Slice> slices() const { return slices_.subspan(window_->first, window_->count); }

  // What was delivered in each part.
  template <typename Amount>
  [[nodiscard]] std::vector<double> sums(const Amount& amount) const {
    std::vector<double> sums;
    for (const Batch& batch : batches_) {
      double sum = 0;
      for (const Tally& tally : tallies_.subspan(batch.first, batch.count)) {
        sum += amount(tally);
      }
      sums.push_back(sum);
    }
    return sums;
  }

  [[nodiscard]] std::optional<std::size_t> part_at(Instant moment) const {
    const auto slice = slice_at(slices_, moment);
    if (!slice || *slice < window_->first || *slice >= window_->first + window_->count) {
      return std::nullopt;
    }
    const auto after = std::ranges::upper_bound(batches_, *slice, {}, &Batch::first);
    return static_cast<std::size_t>(after - batches_.begin() - 1);
  }

 private:
  std::span<const Slice> slices_;
  std::span<const Tally> tallies_;
  const SteadyWindow* window_;
  std::vector<Batch> batches_;
};

double time_of(const Tally& tally) {
  return tally.time.value();
}
double tokens_of(const Tally& tally) {
  return tally.tokens;
}
double answers_of(const Tally& tally) {
  return tally.answers;
}
double energy_of(const Tally& tally) {
  return tally.energy.value_or(Joules{0}).value();
}

double sum_of(const std::vector<double>& parts) {
  double sum = 0;
  for (const double part : parts) {
    sum += part;
  }
  return sum;
}

// Of all slices, or why it is unknown.
MeasuredEnergy energy_in(std::span<const Slice> slices) {
  std::optional<Energy> sum;
  for (const Slice& slice : slices) {
    if (!slice.energy.energy) {
      return {.energy = {}, .reason = slice.energy.reason, .remark = {}};
    }
    sum = sum ? in_turn(*sum, *slice.energy.energy) : *slice.energy.energy;
  }
  return {.energy = sum, .reason = sum ? "" : "no GPU was measured", .remark = {}};
}

// The energy of one of `count`: measured as the whole is, and with the scatter of the parts.
std::optional<Energy> energy_each(const Energy& whole, const std::optional<Interval>& each, double count) {
  if (!each) {
    return std::nullopt;
  }
  Energy energy = whole;
  energy.value = Joules{each->value};
  if (energy.systematic) {
    *energy.systematic /= count;
  }
  energy.set_uncertainty(Joules{std::hypot(each->half_width, whole.uncertainty.value() / count)}, Joules{0});
  return energy;
}

void put_energies(SteadyFigures& figures, const Window& window, const MeasuredEnergy& measured) {
  if (!measured.energy) {
    figures.why_no_energy = figures.why_no_energy_per_answer = measured.reason;
    figures.why_no_energy_per_token = measured.reason;
    return;
  }
  const std::vector<double> joules = window.sums(energy_of);
  const std::vector<double> answers = window.sums(answers_of);
  const std::vector<double> time = window.sums(time_of);
  figures.energy = measured.energy;
  const std::optional<Energy> power = energy_each(*measured.energy, ratio(joules, time), sum_of(time));
  figures.power = power ? std::optional{Figure{power->value.value(), power->uncertainty.value()}} : std::nullopt;
  figures.energy_per_answer = energy_each(*measured.energy, ratio(joules, answers), sum_of(answers));
  figures.why_no_energy_per_answer = "no answer was whole";
  if (!figures.why_no_tokens.empty()) {
    figures.why_no_energy_per_token = figures.why_no_tokens;
    return;
  }
  const std::vector<double> tokens = window.sums(tokens_of);
  figures.energy_per_output_token = energy_each(*measured.energy, ratio(joules, tokens), sum_of(tokens));
  figures.why_no_energy_per_token = "no token was delivered";
}

void put_rates(SteadyFigures& figures, const Window& window) {
  const std::vector<double> time = window.sums(time_of);
  const std::vector<double> answers = window.sums(answers_of);
  figures.answers = sum_of(answers);
  figures.answers_per_second = figure_of(ratio(answers, time));
  figures.in_flight =
      figure_of(ratio(window.sums([](const Tally& tally) { return tally.in_flight * tally.time.value(); }), time));
  if (figures.why_no_tokens.empty()) {
    const std::vector<double> tokens = window.sums(tokens_of);
    figures.output_tokens = sum_of(tokens);
    figures.output_tokens_per_second = figure_of(ratio(tokens, time));
  }
}

// The mean of what the server counts in each whole answer that ended in the window.
template <typename Count>
std::optional<Figure> mean_count(const Window& window, std::span<const Answer> answers, const Count& count) {
  std::vector<double> sums(window.parts(), 0.0);
  std::vector<double> counted(window.parts(), 0.0);
  for (const Answer& answer : answers) {
    if (const auto part = window.part_at(answer.ended); part && answer.is_whole() && answer.usage) {
      const std::optional<std::uint64_t> tokens = count(*answer.usage);
      if (!tokens) {
        return std::nullopt;
      }
      sums[*part] += static_cast<double>(*tokens);
      counted[*part] += 1;
    }
  }
  return figure_of(ratio(sums, counted));
}

void put_counts(SteadyFigures& figures, const Window& window, std::span<const Answer> answers) {
  if (!figures.why_no_tokens.empty()) {
    figures.why_no_prompt_tokens = figures.why_no_reasoning = figures.why_no_tokens;
    return;
  }
  figures.prompt_tokens_per_answer = mean_count(window, answers, [](const Usage& use) { return use.prompt_tokens; });
  figures.output_tokens_per_answer =
      mean_count(window, answers, [](const Usage& use) { return std::optional{use.output_tokens}; });
  figures.reasoning_tokens_per_answer =
      mean_count(window, answers, [](const Usage& use) { return use.reasoning_tokens; });
  figures.why_no_reasoning = "the server does not count them";
  figures.why_no_prompt_tokens =
      figures.output_tokens_per_answer ? figures.why_no_reasoning : "no answer ended in the window";
}

TimePercentile percentile_of(std::span<const PartValue> sorted, std::size_t parts, double share) {
  const Percentile found = percentile(sorted, parts, share).value_or(Percentile{});
  const auto time = [](const std::optional<double>& seconds) {
    return seconds ? std::optional{Seconds{*seconds}} : std::nullopt;
  };
  return {.value = Seconds{found.value}, .low = time(found.low), .high = time(found.high)};
}

std::optional<Times> times_of(std::vector<PartValue> values, std::size_t parts) {
  std::vector<double> sums(parts, 0.0);
  std::vector<double> counts(parts, 0.0);
  for (const PartValue& one : values) {
    sums.at(one.part) += one.value;
    counts.at(one.part) += 1;
  }
  const std::optional<Interval> mean = ratio(sums, counts);
  if (!mean) {
    return std::nullopt;
  }
  std::ranges::sort(values, {}, &PartValue::value);
  return Times{.mean = figure_of(*mean),
               .p50 = percentile_of(values, parts, 0.5),
               .p90 = percentile_of(values, parts, 0.9),
               .p95 = percentile_of(values, parts, 0.95),
               .p99 = percentile_of(values, parts, 0.99)};
}

// Calls `gap` with both ends of each time between two pieces. Pieces that were read at once are one.
template <typename Gap>
void each_gap(const Answer& answer, const Gap& gap) {
  for (std::size_t i = 1; i < answer.arrivals.size(); ++i) {
    if (answer.arrivals[i] > answer.arrivals[i - 1]) {
      gap(answer.arrivals[i - 1], answer.arrivals[i]);
    }
  }
}

bool has_failed(const Answer& answer) {
  return !answer.is_whole() && answer.failure != unfinished;
}

// The times of the steady part. Each belongs to the part in which it ended.
std::vector<PartValue> values_of(const Window& window, std::span<const Answer> answers, Timed timed,
                                 bool first_of_failed) {
  std::vector<PartValue> values;
  const auto add = [&](Instant from, Instant to) {
    if (const auto part = window.part_at(to)) {
      values.push_back({.value = (to - from).value(), .part = *part});
    }
  };
  for (const Answer& answer : answers) {
    if (timed == Timed::first && !answer.arrivals.empty() && (first_of_failed || !has_failed(answer))) {
      add(answer.due, answer.arrivals.front());
    } else if (timed == Timed::between) {
      each_gap(answer, add);
    } else if (timed == Timed::whole && answer.is_whole()) {
      add(answer.due, answer.ended);
    }
  }
  return values;
}

void put_times(SteadyFigures& figures, const Window& window, std::span<const Answer> answers) {
  figures.time_to_first_token = times_of(values_of(window, answers, Timed::first, true), window.parts());
  figures.time_between_tokens = times_of(values_of(window, answers, Timed::between, true), window.parts());
  figures.time_per_answer = times_of(values_of(window, answers, Timed::whole, true), window.parts());
  figures.why_no_first = figures.why_no_whole = "no answer ended in the window";
  figures.why_no_between = "no answer came in more than one piece";
}

std::uint64_t gaps_in(const Answer& answer) {
  std::uint64_t count = 0;
  each_gap(answer, [&count](Instant /*from*/, Instant /*to*/) { ++count; });
  return count;
}

// How many of these times a failed request lacks; of those between pieces, as many as whole answers have on average.
std::uint64_t lacking_in(const Answer& failed, Timed timed, double gaps_of_whole) {
  if (timed != Timed::between) {
    return 1;
  }
  const auto came = static_cast<double>(gaps_in(failed));
  return static_cast<std::uint64_t>(std::max(1.0, std::round(gaps_of_whole - came)));
}

double mean_gaps(std::span<const Answer> answers) {
  double gaps = 0;
  double whole = 0;
  for (const Answer& answer : answers) {
    gaps += answer.is_whole() ? static_cast<double>(gaps_in(answer)) : 0.0;
    whole += answer.is_whole() ? 1.0 : 0.0;
  }
  return whole > 0 ? gaps / whole : 0.0;
}

// Those that a failed request lacks never end.
std::vector<PartValue> values_of_all(const Window& window, std::span<const Answer> answers, Timed timed) {
  std::vector<PartValue> values = values_of(window, answers, timed, false);
  const double gaps_of_whole = timed == Timed::between ? mean_gaps(answers) : 0.0;
  for (const Answer& answer : answers) {
    const auto part = has_failed(answer) ? window.part_at(answer.due) : std::nullopt;
    if (part) {
      values.insert(values.end(), lacking_in(answer, timed, gaps_of_whole), {.value = never.value(), .part = *part});
    }
  }
  return values;
}

// What is unknown because there is no steady state.
SteadyFigures not_steady(const std::string& why) {
  SteadyFigures figures;
  for (std::string* const reason :
       {&figures.why_not_steady, &figures.why_no_energy, &figures.why_no_tokens, &figures.why_no_energy_per_token,
        &figures.why_no_energy_per_answer, &figures.why_no_prompt_tokens, &figures.why_no_reasoning,
        &figures.why_no_first, &figures.why_no_between, &figures.why_no_whole}) {
    *reason = why;
  }
  return figures;
}

void count(std::map<std::string, CountOf>& counts, const std::string& what, const std::string& example) {
  CountOf& one = counts[what];
  if (one.count++ == 0) {
    one.what = what;
    one.example = example;
  }
}

std::vector<CountOf> values_of(std::map<std::string, CountOf>&& counts) {
  std::vector<CountOf> values;
  for (auto& [what, one] : counts) {
    values.push_back(std::move(one));
  }
  return values;
}

}  // namespace

SteadyFigures steady_figures(std::span<const Slice> slices, std::span<const Answer> answers, Instant began) {
  const TokenCounts counts = token_counts(answers);
  const std::vector<Tally> tallies = tallies_of(slices, answers, counts);
  const SteadyWindow steady = steady_window(slices, tallies, answers);
  if (!steady.is_there()) {
    return not_steady(steady.why_not);
  }
  const Window window{slices, tallies, steady};
  SteadyFigures figures;
  figures.why_no_tokens = counts.why_unknown;
  figures.begin = window.begin() - began;
  figures.time = Seconds{sum_of(window.sums(time_of))};
  put_energies(figures, window, energy_in(window.slices()));
  put_rates(figures, window);
  put_counts(figures, window, answers);
  put_times(figures, window, answers);
  return figures;
}

std::vector<std::vector<Seconds>> steady_gaps(std::span<const Slice> slices, std::span<const Answer> answers) {
  std::vector<std::vector<Seconds>> gaps(answers.size());
  const std::vector<Tally> tallies = tallies_of(slices, answers, token_counts(answers));
  const SteadyWindow steady = steady_window(slices, tallies, answers);
  if (!steady.is_there()) {
    return gaps;
  }
  const Window window{slices, tallies, steady};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    each_gap(answers[i], [&](Instant from, Instant to) {
      if (window.part_at(to)) {
        gaps[i].push_back(to - from);
      }
    });
  }
  return gaps;
}

void BoundedTimes::add(std::span<const Slice> slices, std::span<const Answer> answers) {
  const std::vector<Tally> tallies = tallies_of(slices, answers, token_counts(answers));
  const SteadyWindow steady = steady_window(slices, tallies, answers);
  if (!steady.is_there()) {
    return;
  }
  const Window window{slices, tallies, steady};
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    for (PartValue& one : values_of_all(window, answers, bounds_[i].timed)) {
      one.part += parts_;
      values_[i].push_back(one);
    }
    std::ranges::sort(values_[i], {}, &PartValue::value);
  }
  parts_ += window.parts();
  sent_ += answers.size();
  failed_ += static_cast<std::uint64_t>(std::ranges::count_if(answers, has_failed));
}

std::vector<BoundedTime> BoundedTimes::found() const {
  std::vector<BoundedTime> times;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    times.push_back({.bound = bounds_[i],
                     .found = values_[i].empty()
                                  ? std::nullopt
                                  : std::optional{percentile_of(values_[i], parts_, bounds_[i].percent / 100.0)},
                     .sent = sent_,
                     .failed = failed_});
  }
  return times;
}

AnswerCounts answer_counts(std::span<const Answer> answers, bool at_a_rate) {
  AnswerCounts counts;
  std::map<std::string, CountOf> reasons;
  std::map<std::string, CountOf> failures;
  std::uint64_t output = 0;
  std::uint64_t prompt = 0;
  bool all_counted = true;
  bool all_prompts_counted = true;
  for (const Answer& answer : answers) {
    ++counts.sent;
    // In a closed loop a request is due when its place is free; that to write a long one takes time is not lateness.
    counts.late += at_a_rate && answer.sent - answer.due > late ? 1 : 0;
    if (answer.is_whole()) {
      ++counts.whole;
      count(reasons, answer.finish_reason.empty() ? "none" : answer.finish_reason, {});
      all_counted = all_counted && answer.usage;
      all_prompts_counted = all_prompts_counted && answer.usage && answer.usage->prompt_tokens;
    } else if (has_failed(answer)) {
      ++counts.failed;
      count(failures, answer.failure, answer.detail);
    } else {
      ++counts.unfinished;
    }
    output += answer.usage ? answer.usage->output_tokens : 0;
    prompt += answer.usage ? answer.usage->prompt_tokens.value_or(0) : 0;
  }
  if (all_counted) {
    counts.output_tokens = output;
  }
  if (all_prompts_counted) {
    counts.prompt_tokens = prompt;
  }
  if (!all_counted) {
    counts.why_no_tokens = "the server did not say how many tokens some answers have (no 'usage')";
  } else if (!all_prompts_counted) {
    counts.why_no_tokens = "the server did not say how many tokens some prompts have";
  }
  counts.finish_reasons = values_of(std::move(reasons));
  counts.failures = values_of(std::move(failures));
  return counts;
}

}  // namespace zeus::serving
