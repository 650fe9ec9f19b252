// The project's time-cost problem as a flow problem in whole numbers: times in ticks, prices of time in units. A
// computation is an arc from its start to its end, a dependency an arc between computations. The flow through a
// computation's arc is the current price of one tick of it. As the flow grows, the arc becomes shorter, knot by knot,
// down to its fastest time, which has unbounded room. An object belongs to one thread; its size is fixed by the
// constructor.
#pragma once

#include "optimize/pipeline/trade_off.hpp"
#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

using Ticks = std::int64_t;
using Price = std::int64_t;

inline constexpr Price unbounded = Price{1} << 62;

// An arc in one of its two directions: 2 * arc is along it, 2 * arc + 1 against it.
using Way = std::int32_t;

struct Arc {
  std::int32_t tail = 0;
  std::int32_t head = 0;
  std::int32_t curve = -1;  // the computation's kind; -1 for a dependency, whose length is fixed
  std::int32_t piece = 0;   // which of the curve's lengths holds at the current flow
  Price flow = 0;
  Ticks length_along = 0;    // the head comes at least this long after the tail if there is room along
  Ticks length_against = 0;  // the head comes at most this long after the tail if there is flow to take back
  Price room_along = unbounded;
  Price room_against = 0;
};

class FlowNetwork {
 public:
  // `trade_offs` by profile; an unused profile has an empty one. The graph has been checked: indices are in range and
  // it has no cycle. Times are finite.
  FlowNetwork(const records::ComputationGraph& graph, std::span<const TradeOff> trade_offs);

  [[nodiscard]] double ticks_per_second() const { return ticks_per_second_; }
  // The cost of one tick at a price of 1.
  [[nodiscard]] Joules cost_unit() const { return cost_unit_; }
  [[nodiscard]] std::int32_t nodes() const { return sink() + 1; }
  [[nodiscard]] std::int32_t source() const { return 2 * computations_; }
  [[nodiscard]] std::int32_t sink() const { return 2 * computations_ + 1; }
  [[nodiscard]] std::int32_t computations() const { return computations_; }
  // Computation i is arc i, from node 2i to node 2i + 1.
  [[nodiscard]] const Arc& arc(std::int32_t index) const { return arcs_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Ticks slowest(std::int32_t computation) const;
  // The ways out of a node: along its outgoing arcs and against its incoming ones.
  [[nodiscard]] std::span<const Way> ways_from(std::int32_t node) const;
  // The earliest time of each node if every computation takes its slowest time.
  [[nodiscard]] std::vector<Ticks> earliest_when_slowest() const;

  void push(Way way, Price amount);

 private:
  struct Curve {
    std::vector<Ticks> lengths;  // descending
    std::vector<Price> starts;   // ascending from 0: the flow from which each length holds
  };

  static double choose_resolution(const records::ComputationGraph& graph, std::span<const TradeOff> trade_offs);
  [[nodiscard]] Joules choose_cost_unit(const records::ComputationGraph& graph,
                                        std::span<const TradeOff> trade_offs) const;
  [[nodiscard]] Curve curve_of(const TradeOff& trade_off) const;
  [[nodiscard]] Ticks ticks_of(Seconds time) const;
  void add_arc(std::int32_t tail, std::int32_t head, std::int32_t curve, Ticks length);
  void refresh(Arc& arc) const;
  void index_ways();

  std::int32_t computations_;
  double ticks_per_second_ = 1.0;
  Joules cost_unit_{1};
  std::vector<Curve> curves_;
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> first_way_;
  std::vector<Way> ways_;
};

}  // namespace zeus::optimize::pipeline
