#include "optimize/pipeline/flow_network.hpp"

#include "optimize/pipeline/topology.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize::pipeline {

namespace {

constexpr double most_ticks = 1125899906842624.0;     // 2^50: sums along a path stay exact in doubles too
constexpr double most_price = 1152921504606846976.0;  // 2^60: the total flow stays below `unbounded`
constexpr double finest = 1152921504606846976.0;      // ticks per second, 2^60: nothing takes less than 1e-18 s
constexpr double decimal_rounding = 1e-12;            // relative: the error of a decimal number as a double

bool is_multiple(Seconds time, double fractions) {
  const double ticks = time.value() * fractions;
  return std::abs(ticks - std::round(ticks)) <= decimal_rounding * ticks;
}

template <typename Visit>
void for_each_time(const records::ComputationGraph& graph, std::span<const TradeOff> trade_offs, Visit visit) {
  for (const TradeOff& trade_off : trade_offs) {
    for (const Knot& knot : trade_off) {
      visit(knot.time);
    }
  }
  for (const records::Dependency& dependency : graph.dependencies) {
    visit(dependency.time);
  }
}

}  // namespace

FlowNetwork::FlowNetwork(const records::ComputationGraph& graph, std::span<const TradeOff> trade_offs)
    : computations_{static_cast<std::int32_t>(graph.computations.size())} {
  ticks_per_second_ = choose_resolution(graph, trade_offs);
  cost_unit_ = choose_cost_unit(graph, trade_offs);
  for (const TradeOff& trade_off : trade_offs) {
    curves_.push_back(trade_off.empty() ? Curve{} : curve_of(trade_off));
  }
  std::vector<bool> has_predecessor(graph.computations.size(), false);
  std::vector<bool> has_successor(graph.computations.size(), false);
  arcs_.reserve(graph.computations.size() * 3 + graph.dependencies.size());
  for (std::int32_t i = 0; i < computations_; ++i) {
    const auto curve = static_cast<std::int32_t>(graph.computations[static_cast<std::size_t>(i)].profile);
    add_arc(2 * i, 2 * i + 1, curve, 0);
  }
  for (const records::Dependency& dependency : graph.dependencies) {
    add_arc(static_cast<std::int32_t>(2 * dependency.from + 1), static_cast<std::int32_t>(2 * dependency.to), -1,
            ticks_of(dependency.time));
    has_successor[dependency.from] = true;
    has_predecessor[dependency.to] = true;
  }
  for (std::int32_t i = 0; i < computations_; ++i) {
    if (!has_predecessor[static_cast<std::size_t>(i)]) {
      add_arc(source(), 2 * i, -1, 0);
    }
    if (!has_successor[static_cast<std::size_t>(i)]) {
      add_arc(2 * i + 1, sink(), -1, 0);
    }
  }
  index_ways();
}

// Ticks per second. If all times are multiples of a decimal fraction, it is the coarsest such fraction: equal sums of
// times are then equal in ticks, and rounding adds no breakpoints to the frontier. Otherwise a tick is 2^-50 of the
// slowest iteration.
double FlowNetwork::choose_resolution(const records::ComputationGraph& graph, std::span<const TradeOff> trade_offs) {
  std::vector<Seconds> slowest;
  for (const records::Computation& computation : graph.computations) {
    slowest.push_back(trade_offs[computation.profile].back().time);
  }
  double horizon = iteration_time(graph, slowest).value();
  for_each_time(graph, trade_offs, [&](Seconds time) { horizon = std::max(horizon, time.value()); });
  for (double fractions = 1.0; horizon * fractions < most_ticks && fractions < finest; fractions *= 10.0) {
    bool fits = true;
    for_each_time(graph, trade_offs, [&](Seconds time) { fits = fits && is_multiple(time, fractions); });
    if (fits) {
      return fractions;
    }
  }
  return std::min(std::ldexp(1.0, 50 - 1 - std::ilogb(horizon)), finest);
}

Joules FlowNetwork::choose_cost_unit(const records::ComputationGraph& graph,
                                     std::span<const TradeOff> trade_offs) const {
  Joules steepest_sum{0};
  for (const records::Computation& computation : graph.computations) {
    const TradeOff& trade_off = trade_offs[computation.profile];
    if (trade_off.size() > 1) {
      // Rounding to whole ticks can make the first piece up to twice as steep, but no piece is shorter than one.
      const Joules first_rise = trade_off[0].cost - trade_off[1].cost;
      const double first_ticks = (trade_off[1].time - trade_off[0].time).value() * ticks_per_second_;
      steepest_sum += std::min(first_rise * (2.0 / first_ticks), trade_off.front().cost - trade_off.back().cost);
    }
  }
  return steepest_sum > Joules{0} ? Joules{std::ldexp(1.0, std::ilogb(steepest_sum.value() / most_price) + 1)}
                                  : Joules{1};
}

Ticks FlowNetwork::ticks_of(Seconds time) const {
  return std::llround(time.value() * ticks_per_second_);
}

FlowNetwork::Curve FlowNetwork::curve_of(const TradeOff& trade_off) const {
  Curve curve{.lengths = {ticks_of(trade_off.back().time)}, .starts = {0}};
  Knot later = trade_off.back();
  for (std::size_t i = trade_off.size() - 1; i-- > 0;) {
    const Knot& knot = trade_off[i];
    const Ticks length = ticks_of(knot.time);
    if (length == curve.lengths.back()) {
      continue;  // both points lie within one tick: the slower one represents both
    }
    const Joules rise = knot.cost - later.cost;
    const Price price = std::llround(rise / cost_unit_ / static_cast<double>(curve.lengths.back() - length));
    if (price <= curve.starts.back()) {
      curve.lengths.back() = length;  // costs no more than the knot before it: the faster one is better
    } else {
      curve.starts.push_back(price);
      curve.lengths.push_back(length);
    }
    later = knot;
  }
  return curve;
}

void FlowNetwork::add_arc(std::int32_t tail, std::int32_t head, std::int32_t curve, Ticks length) {
  Arc arc{.tail = tail, .head = head, .curve = curve, .length_along = length, .length_against = length};
  refresh(arc);
  arcs_.push_back(arc);
}

void FlowNetwork::index_ways() {
  first_way_.assign(static_cast<std::size_t>(nodes()) + 1, 0);
  for (const Arc& arc : arcs_) {
    ++first_way_[static_cast<std::size_t>(arc.tail) + 1];
    ++first_way_[static_cast<std::size_t>(arc.head) + 1];
  }
  for (std::size_t i = 1; i < first_way_.size(); ++i) {
    first_way_[i] += first_way_[i - 1];
  }
  ways_.resize(2 * arcs_.size());
  std::vector<std::int32_t> next(first_way_.begin(), first_way_.end() - 1);
  for (std::size_t i = 0; i < arcs_.size(); ++i) {
    ways_[static_cast<std::size_t>(next[static_cast<std::size_t>(arcs_[i].tail)]++)] = static_cast<Way>(2 * i);
    ways_[static_cast<std::size_t>(next[static_cast<std::size_t>(arcs_[i].head)]++)] = static_cast<Way>(2 * i + 1);
  }
}

std::span<const Way> FlowNetwork::ways_from(std::int32_t node) const {
  const auto first = static_cast<std::size_t>(first_way_[static_cast<std::size_t>(node)]);
  const auto last = static_cast<std::size_t>(first_way_[static_cast<std::size_t>(node) + 1]);
  return std::span{ways_}.subspan(first, last - first);
}

Ticks FlowNetwork::slowest(std::int32_t computation) const {
  return curves_[static_cast<std::size_t>(arc(computation).curve)].lengths.front();
}

std::vector<Ticks> FlowNetwork::earliest_when_slowest() const {
  std::vector<Ticks> earliest(static_cast<std::size_t>(nodes()), 0);
  std::vector<std::int32_t> waiting_for(static_cast<std::size_t>(nodes()), 0);
  for (const Arc& arc : arcs_) {
    ++waiting_for[static_cast<std::size_t>(arc.head)];
  }
  std::vector<std::int32_t> ready{source()};
  while (!ready.empty()) {
    const std::int32_t node = ready.back();
    ready.pop_back();
    for (const Way way : ways_from(node)) {
      if (way % 2 == 0) {
        const Arc& out = arcs_[static_cast<std::size_t>(way / 2)];
        const Ticks length = out.curve < 0 ? out.length_along : slowest(way / 2);
        const auto head = static_cast<std::size_t>(out.head);
        earliest[head] = std::max(earliest[head], earliest[static_cast<std::size_t>(node)] + length);
        if (--waiting_for[head] == 0) {
          ready.push_back(out.head);
        }
      }
    }
  }
  return earliest;
}

void FlowNetwork::refresh(Arc& arc) const {
  if (arc.curve < 0) {
    arc.room_against = arc.flow;
    return;
  }
  const Curve& curve = curves_[static_cast<std::size_t>(arc.curve)];
  auto piece = static_cast<std::size_t>(arc.piece);
  while (piece + 1 < curve.starts.size() && arc.flow >= curve.starts[piece + 1]) {
    ++piece;
  }
  while (arc.flow < curve.starts[piece]) {
    --piece;
  }
  arc.piece = static_cast<std::int32_t>(piece);
  arc.length_along = curve.lengths[piece];
  arc.room_along = piece + 1 < curve.starts.size() ? curve.starts[piece + 1] - arc.flow : unbounded;
  if (arc.flow > curve.starts[piece] || piece == 0) {
    arc.length_against = curve.lengths[piece];
    arc.room_against = arc.flow - curve.starts[piece];
  } else {
    arc.length_against = curve.lengths[piece - 1];
    arc.room_against = arc.flow - curve.starts[piece - 1];
  }
}

void FlowNetwork::push(Way way, Price amount) {
  Arc& arc = arcs_[static_cast<std::size_t>(way / 2)];
  arc.flow += way % 2 == 0 ? amount : -amount;
  refresh(arc);
}

}  // namespace zeus::optimize::pipeline
