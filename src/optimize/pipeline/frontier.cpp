#include "optimize/pipeline/frontier.hpp"

#include "optimize/pipeline/topology.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace zeus::optimize::pipeline {

namespace {

constexpr std::size_t fewest_changes_per_checkpoint = 256;
constexpr double printed_rounding = 1e-9;  // relative: for an iteration time that was printed and read again

// By profile. Unused profiles get an empty one, so that their times do not make the ticks coarser.
std::vector<TradeOff> trade_offs_of(const records::ComputationGraph& graph, Watts blocking_power) {
  std::vector<TradeOff> trade_offs(graph.profiles.size());
  for (const records::Computation& computation : graph.computations) {
    TradeOff& trade_off = trade_offs[computation.profile];
    if (trade_off.empty()) {
      trade_off = trade_off_of(efficient_options(graph.profiles[computation.profile], blocking_power), blocking_power);
    }
  }
  return trade_offs;
}

}  // namespace

Frontier::Frontier(const records::ComputationGraph& graph, Watts blocking_power)
    : all_blocking_{blocking_power * static_cast<double>(graph.devices * graph.copies)} {
  check(graph);
  const std::vector<TradeOff> trade_offs = trade_offs_of(graph, blocking_power);
  FlowNetwork network{graph, trade_offs};
  ticks_per_second_ = network.ticks_per_second();
  sweep_ = FrontierSearch{network}.run();
  Joules cheapest{0};
  for (const records::Computation& computation : graph.computations) {
    cheapest += trade_offs[computation.profile].back().cost;
  }
  const auto copies = static_cast<double>(graph.copies);
  make_points(cheapest * copies, network.cost_unit() * copies);
  make_checkpoints();
}

void Frontier::make_points(Joules cheapest, Joules price_unit) {
  const auto add = [&](Ticks saved, Joules cost) {
    const Seconds time = time_at(static_cast<double>(saved));
    points_.push_back({.time = time, .energy = cost + all_blocking_ * time});
  };
  Joules cost = cheapest;
  Ticks saved = 0;
  Price price = 0;
  add(0, cost);
  for (const PriceChange& change : sweep_.prices) {
    if (change.at > saved) {
      cost += price_unit * (static_cast<double>(price) * static_cast<double>(change.at - saved));
      saved = change.at;
      add(saved, cost);
    }
    price = change.price;
  }
  if (sweep_.saved > saved) {
    cost += price_unit * (static_cast<double>(price) * static_cast<double>(sweep_.saved - saved));
    add(sweep_.saved, cost);
  }
  std::ranges::reverse(points_);
  least_energy_ = std::ranges::min_element(points_, {}, &FrontierPoint::energy)->time;
}

void Frontier::make_checkpoints() {
  const std::size_t count = computations();
  changes_per_checkpoint_ = std::max(count, fewest_changes_per_checkpoint);
  std::vector<Course> courses(count);
  for (std::size_t i = 0; i < count; ++i) {
    courses[i].base = sweep_.durations[i];
  }
  checkpoints_.reserve(count * (sweep_.rates.size() / changes_per_checkpoint_ + 1));
  for (std::size_t i = 0; i <= sweep_.rates.size(); ++i) {
    if (i % changes_per_checkpoint_ == 0) {
      checkpoints_.insert(checkpoints_.end(), courses.begin(), courses.end());
    }
    if (i < sweep_.rates.size()) {
      const RateChange& change = sweep_.rates[i];
      Course& course = courses[static_cast<std::size_t>(change.computation)];
      course.base -= change.change * change.at;
      course.rate += change.change;
    }
  }
}

void Frontier::check_reachable(Seconds time) const {
  if (!(time >= fastest() * (1 - printed_rounding))) {
    throw Error{ErrorKind::invalid_argument, fmt::format("no plan takes only {} s", time.value()),
                fmt::format("ask for {} s or more", fastest().value())};
  }
}

double Frontier::saved_at(Seconds time) const {
  check_reachable(time);
  return std::clamp(static_cast<double>(sweep_.slowest) - time.value() * ticks_per_second_, 0.0,
                    static_cast<double>(sweep_.saved));
}

Joules Frontier::energy_at(Seconds time) const {
  check_reachable(time);
  if (time >= points_.back().time) {
    return points_.back().energy + all_blocking_ * (time - points_.back().time);
  }
  const auto after = std::ranges::upper_bound(points_, time, {}, &FrontierPoint::time);
  if (after == points_.begin()) {
    return after->energy;
  }
  const FrontierPoint& before = *std::prev(after);
  return before.energy + (after->energy - before.energy) * ((time - before.time) / (after->time - before.time));
}

void Frontier::durations_at(Seconds time, std::span<Seconds> durations) const {
  const double saved = saved_at(time);
  const std::size_t count = computations();
  const auto passed = static_cast<std::size_t>(
      std::ranges::partition_point(sweep_.rates,
                                   [&](const RateChange& change) { return static_cast<double>(change.at) < saved; }) -
      sweep_.rates.begin());
  const std::size_t checkpoint = passed / changes_per_checkpoint_;
  const auto courses = std::span{checkpoints_}.subspan(checkpoint * count, count);
  for (std::size_t i = 0; i < count; ++i) {
    durations[i] = Seconds{(static_cast<double>(courses[i].base) + courses[i].rate * saved) / ticks_per_second_};
  }
  for (std::size_t k = checkpoint * changes_per_checkpoint_; k < passed; ++k) {
    const RateChange& change = sweep_.rates[k];
    durations[static_cast<std::size_t>(change.computation)] +=
        Seconds{change.change * (saved - static_cast<double>(change.at)) / ticks_per_second_};
  }
}

std::vector<Seconds> Frontier::durations_at(Seconds time) const {
  std::vector<Seconds> durations(computations());
  durations_at(time, durations);
  return durations;
}

SearchEffort Frontier::effort() const {
  return {.price_changes = sweep_.prices.size(),
          .rate_changes = sweep_.rates.size(),
          .augmentations = sweep_.augmentations,
          .labellings = sweep_.labellings,
          .stored_bytes = sweep_.rates.size() * sizeof(RateChange) + sweep_.prices.size() * sizeof(PriceChange) +
                          checkpoints_.size() * sizeof(Course) + points_.size() * sizeof(FrontierPoint) +
                          sweep_.durations.size() * sizeof(Ticks)};
}

}  // namespace zeus::optimize::pipeline
