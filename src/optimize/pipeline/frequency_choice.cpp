#include "optimize/pipeline/frequency_choice.hpp"

#include "base/random.hpp"
#include "optimize/pipeline/topology.hpp"
#include "optimize/pipeline/trade_off.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

namespace zeus::optimize::pipeline {

namespace {

constexpr double tick_rounding = 1e-10;        // relative: what rounding to whole ticks may have lost along a path
constexpr double most_combinations = 200'000;  // up to this many, enumeration finds the exact optimum
constexpr std::array all_latenesses{0.5, 0.0, 0.25, 0.75, 1.0};
constexpr int most_excess_steps = 20;  // bounds how much slower a continuous plan may be to be rounded too
constexpr double excess_step = 0.0025;
constexpr std::size_t improvement_steps = 100'000;  // trials, times the computations that each one visits
constexpr std::size_t neighbourhood = 24;           // computations that are neighbours in time
constexpr std::size_t most_changes = 8;             // how many of them one trial changes

}  // namespace

// Slows down computations that have time to spare, those with the largest saving per second first.
class FrequencyChooser::Tightener {
 public:
  Tightener(const FrequencyChooser& chooser, Seconds time)
      : chooser_{chooser}, time_{time}, starts_(chooser.order_.size()), latest_(chooser.order_.size()) {}

  enum class Direction { forwards, backwards };

  // With `patience` below 1, the first computations may accept smaller savings before the later ones have taken the
  // largest. Backwards, the first computations are those at the end of the iteration.
  void fill(Positions& positions, double patience = 1.0, Direction direction = Direction::forwards) {
    // Each sweep takes savings of at least this much power; the next one accepts half as much.
    bool changed = true;
    for (Watts least = best_bargain(positions) * patience; least > Watts{0}; least = least / 2.0) {
      changed = direction == Direction::forwards ? sweep_forwards(positions, least, changed)
                                                 : sweep_backwards(positions, least, changed);
      if (least < smallest_bargain_) {
        break;
      }
    }
  }

 private:
  [[nodiscard]] Seconds start_of(std::size_t i, const Positions& positions) const {
    Seconds start{0};
    for (std::size_t k = chooser_.first_before_[i]; k < chooser_.first_before_[i + 1]; ++k) {
      const Neighbour& previous = chooser_.before_[k];
      start = std::max(
          start, starts_[previous.computation] + chooser_.option(previous.computation, positions).time + previous.gap);
    }
    return start;
  }

  [[nodiscard]] Seconds latest_of(std::size_t i, const Positions& positions) const {
    Seconds latest = time_;
    for (std::size_t k = chooser_.first_after_[i]; k < chooser_.first_after_[i + 1]; ++k) {
      const Neighbour& next = chooser_.after_[k];
      latest =
          std::min(latest, latest_[next.computation] - chooser_.option(next.computation, positions).time - next.gap);
    }
    return latest;
  }

  Watts best_bargain(const Positions& positions) {
    Watts best{0};
    smallest_bargain_ = Watts{std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto options = chooser_.options_of(i);
      for (std::size_t k = positions[i] + 1; k < options.size(); ++k) {
        const Watts bargain = (options[k - 1].cost - options[k].cost) / (options[k].time - options[k - 1].time);
        best = std::max(best, bargain);
        smallest_bargain_ = std::min(smallest_bargain_, bargain);
      }
    }
    // A saving within almost no time may be infinite, and halving it would never end.
    return std::min(best, Watts{std::numeric_limits<double>::max()});
  }

  // Sweeps in the order of time; later computations keep their options. Returns whether anything changed. `stale` says
  // whether the last sweep changed anything.
  bool sweep_forwards(Positions& positions, Watts least, bool stale) {
    if (stale) {
      for (const std::size_t i : std::views::reverse(chooser_.order_)) {
        latest_[i] = latest_of(i, positions);
      }
    }
    bool changed = false;
    for (const std::size_t i : chooser_.order_) {
      starts_[i] = start_of(i, positions);
      changed = slow_down(i, positions, least) || changed;
    }
    return changed;
  }

  bool sweep_backwards(Positions& positions, Watts least, bool stale) {
    if (stale) {
      for (const std::size_t i : chooser_.order_) {
        starts_[i] = start_of(i, positions);
      }
    }
    bool changed = false;
    for (const std::size_t i : std::views::reverse(chooser_.order_)) {
      latest_[i] = latest_of(i, positions);
      changed = slow_down(i, positions, least) || changed;
    }
    return changed;
  }

  // Moves a computation to the slowest option that fits and saves enough.
  bool slow_down(std::size_t i, Positions& positions, Watts least) {
    const auto options = chooser_.options_of(i);
    const Option now = options[positions[i]];
    const Seconds room = (latest_[i] - starts_[i]) + time_ * tick_rounding;
    for (std::size_t k = options.size() - 1; k > positions[i]; --k) {
      if (options[k].time <= room && (now.cost - options[k].cost) >= least * (options[k].time - now.time)) {
        positions[i] = static_cast<std::uint32_t>(k);
        return true;
      }
    }
    return false;
  }

  const FrequencyChooser& chooser_;
  Seconds time_;
  std::vector<Seconds> starts_;
  std::vector<Seconds> latest_;
  Watts smallest_bargain_;
};

// Tries all combinations of a small graph, except for those that cannot beat the best one found so far.
class FrequencyChooser::Enumeration {
 public:
  Enumeration(const FrequencyChooser& chooser, Seconds time, Positions first)
      : chooser_{chooser},
        time_{time * (1.0 + tick_rounding)},
        best_{std::move(first)},
        best_cost_{chooser.cost_of(best_)},
        trial_(best_.size(), 0),
        starts_(best_.size()),
        tails_(best_.size()),
        least_after_(best_.size() + 1) {
    for (std::size_t k = best_.size(); k-- > 0;) {
      const std::size_t i = chooser_.order_[k];
      least_after_[k] = least_after_[k + 1] + chooser_.options_of(i).back().cost;
      for (std::size_t j = chooser_.first_after_[i]; j < chooser_.first_after_[i + 1]; ++j) {
        const Neighbour& next = chooser_.after_[j];
        tails_[i] = std::max(tails_[i],
                             next.gap + chooser_.options_of(next.computation).front().time + tails_[next.computation]);
      }
    }
  }

  Positions run() {
    extend(0, Joules{0});
    return best_;
  }

 private:
  void extend(std::size_t depth, Joules cost) {  // NOLINT(misc-no-recursion): as deep as a small graph is large
    if (cost + least_after_[depth] >= best_cost_) {
      return;
    }
    if (depth == trial_.size()) {
      best_cost_ = cost;
      best_ = trial_;
      return;
    }
    const std::size_t i = chooser_.order_[depth];
    starts_[i] = Seconds{0};
    for (std::size_t k = chooser_.first_before_[i]; k < chooser_.first_before_[i + 1]; ++k) {
      const Neighbour& previous = chooser_.before_[k];
      starts_[i] = std::max(starts_[i], starts_[previous.computation] +
                                            chooser_.option(previous.computation, trial_).time + previous.gap);
    }
    const auto options = chooser_.options_of(i);
    for (std::size_t k = options.size(); k-- > 0;) {
      if (starts_[i] + options[k].time + tails_[i] <= time_) {
        trial_[i] = static_cast<std::uint32_t>(k);
        extend(depth + 1, cost + options[k].cost);
      }
    }
  }

  const FrequencyChooser& chooser_;
  Seconds time_;
  Positions best_;
  Joules best_cost_;
  Positions trial_;
  std::vector<Seconds> starts_;
  std::vector<Seconds> tails_;  // from the end of each computation to the end of the iteration, at the fastest options
  std::vector<Joules> least_after_;
};

FrequencyChooser::FrequencyChooser(const records::ComputationGraph& graph, Watts blocking_power)
    : order_{topological_order(graph)},
      all_blocking_{blocking_power * static_cast<double>(graph.devices * graph.copies)},
      copies_{static_cast<double>(graph.copies)} {
  for (const records::ComputationProfile& profile : graph.profiles) {
    efficient_.push_back(efficient_options(profile, blocking_power));
    const TradeOff hull = trade_off_of(efficient_.back(), blocking_power);
    options_.emplace_back();
    knots_.emplace_back();
    for (const records::FrequencyOption& option : efficient_.back()) {
      if (knots_.back().size() < hull.size() && option.time == hull[knots_.back().size()].time) {
        knots_.back().push_back(static_cast<std::uint32_t>(options_.back().size()));
      }
      options_.back().push_back({.time = option.time, .cost = pipeline::cost_of(option, blocking_power)});
    }
  }
  for (const records::Computation& computation : graph.computations) {
    profile_.push_back(computation.profile);
  }
  index_neighbours(graph);
}

void FrequencyChooser::index_neighbours(const records::ComputationGraph& graph) {
  const std::size_t count = profile_.size();
  first_before_.assign(count + 1, 0);
  first_after_.assign(count + 1, 0);
  for (const records::Dependency& edge : graph.dependencies) {
    ++first_before_[edge.to + 1];
    ++first_after_[edge.from + 1];
  }
  for (std::size_t i = 1; i <= count; ++i) {
    first_before_[i] += first_before_[i - 1];
    first_after_[i] += first_after_[i - 1];
  }
  before_.resize(graph.dependencies.size());
  after_.resize(graph.dependencies.size());
  std::vector<std::size_t> next_before(first_before_.begin(), first_before_.end() - 1);
  std::vector<std::size_t> next_after(first_after_.begin(), first_after_.end() - 1);
  for (const records::Dependency& edge : graph.dependencies) {
    before_[next_before[edge.to]++] = {.computation = edge.from, .gap = edge.time};
    after_[next_after[edge.from]++] = {.computation = edge.to, .gap = edge.time};
  }
}

Joules FrequencyChooser::cost_of(const Positions& positions) const {
  Joules sum{0};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    sum += option(i, positions).cost;
  }
  return sum;
}

Seconds FrequencyChooser::iteration_time_of(const Positions& positions) const {
  std::vector<Seconds> ends(positions.size());
  Seconds last{0};
  for (const std::size_t i : order_) {
    Seconds start{0};
    for (std::size_t k = first_before_[i]; k < first_before_[i + 1]; ++k) {
      start = std::max(start, ends[before_[k].computation] + before_[k].gap);
    }
    ends[i] = start + option(i, positions).time;
    last = std::max(last, ends[i]);
  }
  return last;
}

// Gives every computation one of the two knots of the hull around its duration. It gets the slower knot if it then
// still ends by its deadline, so time that one computation leaves unused goes to the next. Deadlines lie between the
// earliest and the latest ends that the durations allow; for any mixture of the two, the faster knot always ends in
// time.
void FrequencyChooser::round(std::span<const Seconds> durations, Seconds time, double lateness, Rounding& work) const {
  const auto count = static_cast<std::ptrdiff_t>(order_.size());
  for (std::ptrdiff_t k = count - 1; k >= 0; --k) {
    const std::size_t i = order_[static_cast<std::size_t>(k)];
    work.latest[i] = time;
    for (std::size_t j = first_after_[i]; j < first_after_[i + 1]; ++j) {
      const Neighbour& next = after_[j];
      work.latest[i] = std::min(work.latest[i], work.latest[next.computation] - durations[next.computation] - next.gap);
    }
  }
  for (const std::size_t i : order_) {
    Seconds planned{0};
    Seconds start{0};
    for (std::size_t j = first_before_[i]; j < first_before_[i + 1]; ++j) {
      const Neighbour& previous = before_[j];
      planned = std::max(planned, work.earliest[previous.computation] + previous.gap);
      start = std::max(start, work.ends[previous.computation] + previous.gap);
    }
    work.earliest[i] = planned + durations[i];
    const Seconds deadline = work.earliest[i] * (1.0 - lateness) + work.latest[i] * lateness;
    const auto& knots = knots_[profile_[i]];
    const auto options = options_of(i);
    // A duration that equals a knot may have lost its last digits in the frontier's whole ticks.
    const auto above = std::ranges::upper_bound(knots, durations[i] * (1.0 + 1e-9), {},
                                                [&](std::uint32_t position) { return options[position].time; });
    std::uint32_t position = above == knots.begin() ? 0 : *std::prev(above);
    if (above != knots.end() && start + options[*above].time <= deadline + time * tick_rounding) {
      position = *above;
    }
    work.positions[i] = position;
    work.ends[i] = start + options[position].time;
  }
}

// Rounds the requested plan with several kinds of deadlines. Also rounds slower continuous plans, to use the time that
// rounding leaves over. Each result is filled up, and the cheapest one that ends in time is kept.
FrequencyChooser::Positions FrequencyChooser::best_start(const Frontier& frontier, Seconds time, Effort effort) const {
  const std::size_t count = profile_.size();
  const Seconds in_time = time * (1.0 + tick_rounding);
  std::vector<Seconds> durations(count);
  Rounding work{.positions = Positions(count), .earliest = {}, .latest = {}, .ends = {}};
  work.earliest.resize(count);
  work.latest.resize(count);
  work.ends.resize(count);
  Tightener tightener{*this, time};
  Positions best(count, 0);
  Joules best_cost = cost_of(best);
  const std::span<const double> latenesses =
      effort == Effort::lookup ? std::span{all_latenesses}.first(1) : all_latenesses;
  for (const double lateness : latenesses) {
    for (int step = 0; step <= most_excess_steps; ++step) {
      const Seconds target = time * (1.0 + excess_step * step);
      frontier.durations_at(target, durations);
      round(durations, std::max(target, time), lateness, work);
      if (*std::ranges::max_element(work.ends) > in_time) {
        break;
      }
      tightener.fill(work.positions);
      if (const Joules cost = cost_of(work.positions); cost < best_cost) {
        best_cost = cost;
        best = work.positions;
      }
      if (effort == Effort::lookup) {
        break;
      }
    }
  }
  return best;
}

bool FrequencyChooser::is_small() const {
  double combinations = 1.0;
  for (std::size_t i = 0; i < profile_.size() && combinations <= most_combinations; ++i) {
    combinations *= static_cast<double>(options_of(i).size());
  }
  return combinations <= most_combinations;
}

FrequencyChoice FrequencyChooser::choose(const Frontier& frontier, Seconds time, Effort effort) const {
  const Joules bound = frontier.energy_at(time);
  // The frontier's fastest iteration may have been rounded to slightly less than the fastest options take.
  const Seconds end = std::max(time, iteration_time_of(Positions(profile_.size(), 0)));
  Positions best = best_start(frontier, end, effort);
  if (effort == Effort::thorough && is_small()) {
    best = Enumeration{*this, end, std::move(best)}.run();
  } else if (effort == Effort::thorough) {
    improve(end, best);
  }
  FrequencyChoice choice{.options = {},
                         .iteration_time = iteration_time_of(best),
                         .energy = cost_of(best) * copies_ + all_blocking_ * time,
                         .bound = bound};
  for (std::size_t i = 0; i < best.size(); ++i) {
    choice.options.push_back(efficient_[profile_[i]][best[i]]);
  }
  return choice;
}

// Speeds up a few computations that are neighbours in time, fills up the freed time in another order of savings, and
// keeps the result if it costs no more. The draws are the same each time.
void FrequencyChooser::improve(Seconds time, Positions& best) const {
  Tightener tightener{*this, time};
  Joules best_cost = cost_of(best);
  Random random{0};
  Positions trial;
  const std::size_t count = best.size();
  for (std::size_t trials = improvement_steps / count; trials > 0; --trials) {
    trial = best;
    const std::size_t window = std::min(count, neighbourhood);
    const std::size_t first = random.below(count - window + 1);
    for (std::size_t changes = 1 + random.below(most_changes); changes > 0; --changes) {
      std::uint32_t& position = trial[order_[first + random.below(window)]];
      position -= static_cast<std::uint32_t>(std::min<std::uint64_t>(position, 1 + random.below(3)));
    }
    const double patience = random.uniform(0.05, 1.0);
    const auto direction = random.below(2) == 0 ? Tightener::Direction::forwards : Tightener::Direction::backwards;
    tightener.fill(trial, patience, direction);
    if (const Joules cost = cost_of(trial); cost <= best_cost) {
      best_cost = cost;
      best.swap(trial);
    }
  }
}

}  // namespace zeus::optimize::pipeline
