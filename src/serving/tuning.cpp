#include "serving/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace zeus::serving {

namespace {

constexpr std::size_t misses_to_end = 2;
constexpr std::uint64_t most_effort = 8;
constexpr std::uint64_t most_effort_to_be_steady = 4;  // a server that gets more than it can answer never is
constexpr std::size_t most_refined = 2;
// A limit that is so near to what a GPU draws, or to the lowest one, leaves too little room for limits between.
constexpr double room_for_limits = 1.15;

Verdict verdict_on(const BoundedTime& time) {
  const auto name = field::name_of(time.bound.timed);
  if (!time.found) {
    return {.why_not = fmt::format("{} is unknown", name)};
  }
  const bool may_be_within = !time.found->low || *time.found->low <= time.bound.most;
  if (!time.found->high) {
    return {.why_not = fmt::format("too few answers to know {} at {} %", name, time.bound.percent),
            .is_unclear = may_be_within};
  }
  if (*time.found->high <= time.bound.most) {
    return {};
  }
  if (*time.found->high == never) {
    return {.why_not = fmt::format("{} of {} requests failed, {} at {} % may be that of one of them", time.failed,
                                   time.sent, name, time.bound.percent),
            .is_unclear = may_be_within};
  }
  return {.why_not = fmt::format("{} at {} % may be {:.4g} ms", name, time.bound.percent,
                                 Milliseconds{*time.found->high}.value()),
          .is_unclear = may_be_within};
}

// To what people set by hand.
Watts whole(Watts limit) {
  return Watts{std::round(limit.value())};
}

bool is_allowed(const SettingLimits& limits, Watts limit) {
  return std::ranges::all_of(limits.allowed, [limit](const auto& ranges) { return device::hold(ranges, limit); });
}

// In the order in which settings are tried.
bool is_lower(const PowerSetting& one, const PowerSetting& other) {
  const auto unlocked = Megahertz{1e9};
  return std::pair{one.limit, one.clock.value_or(unlocked)} < std::pair{other.limit, other.clock.value_or(unlocked)};
}

const Energy& energy_per_token(const TriedSetting& one) {
  return *one.result.steady.energy_per_output_token;
}

// What is varied: the clock, or else the limit.
double lever(const PowerSetting& setting) {
  return setting.clock ? setting.clock->value() : setting.limit.value();
}

struct Point {
  double at = 0;
  Energy energy = {};
};

// The straight line that fits three points best by their uncertainties, at the second one.
double line_at_second(const std::array<Point, 3>& points) {
  double weights = 0;
  double at = 0;
  double value = 0;
  const auto weight_of = [](const Point& point) {
    return 1 / std::pow(std::max(point.energy.uncertainty.value(), 1e-9), 2);
  };
  for (const Point& point : points) {
    weights += weight_of(point);
    at += weight_of(point) * point.at;
    value += weight_of(point) * point.energy.value.value();
  }
  at /= weights;
  value /= weights;
  double squares = 0;
  double products = 0;
  for (const Point& point : points) {
    squares += weight_of(point) * (point.at - at) * (point.at - at);
    products += weight_of(point) * (point.at - at) * (point.energy.value.value() - value);
  }
  return squares > 0 ? value + products / squares * (points[1].at - at) : value;
}

}  // namespace

Verdict verdict_on(const BenchResult& result, const std::vector<BoundedTime>& times) {
  if (!result.steady.energy_per_output_token) {
    const bool is_unsteady = !result.steady.why_not_steady.empty();
    return {.why_not = result.steady.why_no_energy_per_token, .is_unclear = is_unsteady, .is_unsteady = is_unsteady};
  }
  Verdict all;
  for (const BoundedTime& time : times) {
    Verdict one = verdict_on(time);
    // One that is not kept outweighs one that is unclear.
    if (!one.why_not.empty() && (all.why_not.empty() || (all.is_unclear && !one.is_unclear))) {
      all = std::move(one);
    }
  }
  return all;
}

std::vector<PowerSetting> settings_below(const SettingLimits& limits, Watts drawn, std::size_t steps) {
  std::vector<PowerSetting> settings;
  const Watts top = std::min(limits.highest, drawn);
  if (top >= limits.lowest * room_for_limits || limits.clocks.size() < 2) {
    const Watts step = (top - limits.lowest) / static_cast<double>(steps);
    Watts last = top;
    for (std::size_t i = 1; i <= steps && step > Watts{0}; ++i) {
      // The lowest one itself: a computed one may lie just below it.
      const Watts limit =
          i == steps ? limits.lowest : std::max(limits.lowest, whole(top - step * static_cast<double>(i)));
      if (limit < last && is_allowed(limits, limit)) {
        settings.push_back({.limit = limit, .clock = {}});
        last = limit;
      }
    }
    return settings;
  }
  // The highest clock is the one that the GPU has without a lock.
  const std::size_t clocks = limits.clocks.size() - 1;
  const std::size_t count = std::min(steps, clocks);
  for (std::size_t i = 1; i <= count; ++i) {
    settings.push_back({.limit = limits.highest, .clock = limits.clocks[i * clocks / count]});
  }
  return settings;
}

Tuning::Tuning(SettingLimits limits, std::size_t steps)
    : limits_{std::move(limits)}, steps_{steps}, to_try_{{.limit = limits_.highest, .clock = {}}} {
}

bool Tuning::has_descended() const {
  const auto is_out = [](const TriedSetting& one) { return !one.verdict.why_not.empty(); };
  if (refined_ > 0 || tried_.size() >= to_try_.size() ||
      (tried_.size() >= misses_to_end && std::all_of(tried_.end() - misses_to_end, tried_.end(), is_out))) {
    return true;
  }
  const auto least = best();
  if (!least || is_out(tried_.back())) {
    return false;
  }
  const Energy& last = energy_per_token(tried_.back());
  const Energy& lowest = energy_per_token(tried_[*least]);
  return last.value - last.uncertainty > lowest.value + lowest.uncertainty;
}

// Halfway from the best to the next lower one, if that is not within the bounds.
std::optional<PowerSetting> Tuning::between() const {
  const auto least = best();
  if (!least) {
    return std::nullopt;
  }
  const PowerSetting& from = tried_[*least].setting;
  const TriedSetting* next_lower = nullptr;
  for (const TriedSetting& one : tried_) {
    if (is_lower(one.setting, from) && (next_lower == nullptr || is_lower(next_lower->setting, one.setting))) {
      next_lower = &one;
    }
  }
  if (next_lower == nullptr || next_lower->verdict.why_not.empty()) {
    return std::nullopt;
  }
  const auto lies_between = [&](const PowerSetting& one) {
    return is_lower(one, from) && is_lower(next_lower->setting, one);
  };
  PowerSetting half = from;
  if (!next_lower->setting.clock) {
    half.limit = whole((std::min(from.limit, drawn_) + next_lower->setting.limit) / 2.0);
    return lies_between(half) && is_allowed(limits_, half.limit) ? std::optional{half} : std::nullopt;
  }
  std::vector<Megahertz> clocks;
  // The highest clock is the one that the GPU has without a lock.
  for (std::size_t i = 1; i < limits_.clocks.size(); ++i) {
    half.clock = limits_.clocks[i];
    if (lies_between(half)) {
      clocks.push_back(limits_.clocks[i]);
    }
  }
  if (clocks.empty()) {
    return std::nullopt;
  }
  half.clock = clocks[clocks.size() / 2];
  return half;
}

bool Tuning::is_to_be_repeated() const {
  if (tried_.empty() || !tried_.back().verdict.is_unclear) {
    return false;
  }
  return tried_.back().effort < (tried_.back().verdict.is_unsteady ? most_effort_to_be_steady : most_effort);
}

std::optional<Tuning::Step> Tuning::next() const {
  if (is_to_be_repeated()) {
    return Step{.setting = tried_.back().setting, .effort = 2 * tried_.back().effort, .is_extra = true};
  }
  if (!has_descended()) {
    return Step{.setting = to_try_[tried_.size()]};
  }
  const auto half = refined_ < most_refined ? between() : std::nullopt;
  return half ? std::optional{Step{.setting = *half, .is_extra = true}} : std::nullopt;
}

void Tuning::add(BenchResult result, const std::vector<BoundedTime>& times, std::size_t gpus) {
  const Step step = next().value_or(Step{});
  Verdict verdict = verdict_on(result, times);
  if (step.effort > 1) {
    tried_.pop_back();
  } else if (!tried_.empty() && has_descended()) {
    ++refined_;
  }
  // Once the highest limit's run has been steady.
  if (tried_.empty() && to_try_.size() == 1 && result.steady.power) {
    drawn_ = Watts{result.steady.power->value / static_cast<double>(std::max<std::size_t>(gpus, 1))};
    const std::vector<PowerSetting> rest = settings_below(limits_, drawn_, steps_);
    to_try_.insert(to_try_.end(), rest.begin(), rest.end());
  }
  tried_.push_back(
      {.setting = step.setting, .result = std::move(result), .verdict = std::move(verdict), .effort = step.effort});
}

Joules Tuning::energy_by_neighbours(const TriedSetting& one) const {
  const Energy& measured = energy_per_token(one);
  // Not the highest limit: it does not bind, so it lies on no line with the others.
  std::vector<const TriedSetting*> others;
  for (std::size_t i = 1; i < tried_.size(); ++i) {
    if (tried_[i].result.steady.energy_per_output_token) {
      others.push_back(&tried_[i]);
    }
  }
  std::ranges::sort(others,
                    [](const auto* lower, const auto* higher) { return is_lower(lower->setting, higher->setting); });
  const auto place = std::ranges::find(others, &one);
  if (place == others.begin() || place == others.end() || std::next(place) == others.end()) {
    return measured.value;
  }
  const std::array<const TriedSetting*, 3> three{*std::prev(place), *place, *std::next(place)};
  const Joules fitted{line_at_second({{{lever(three[0]->setting), energy_per_token(*three[0])},
                                       {lever(three[1]->setting), energy_per_token(*three[1])},
                                       {lever(three[2]->setting), energy_per_token(*three[2])}}})};
  return std::clamp(fitted, measured.value - measured.uncertainty, measured.value + measured.uncertainty);
}

std::optional<std::size_t> Tuning::best() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (tried_[i].verdict.why_not.empty() &&
        (!best || energy_by_neighbours(tried_[i]) < energy_by_neighbours(tried_[*best]))) {
      best = i;
    }
  }
  return best;
}

}  // namespace zeus::serving
