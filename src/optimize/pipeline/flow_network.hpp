// The project's time-cost problem turned into a flow, in whole numbers: times in ticks, prices of time in units.
// A computation is an arc from its start to its end, a dependency an arc between computations. The flow through a
// computation's arc is what one tick of it is worth at present; as it grows, the arc becomes shorter, knot by knot,
// down to the fastest time, whose room is unbounded. An object belongs to one thread; its size is fixed when it is
// made.
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

// An arc in one of its two directions: 2 * arc for along it, 2 * arc + 1 for against it.
using Way = std::int32_t;

struct Arc {
  std::int32_t tail = 0;
  std::int32_t head = 0;
  std::int32_t curve = -1;  // the computation's kind; -1 for a dependency, of one length
  std::int32_t piece = 0;   // which of the curve's lengths holds at the present flow
  Price flow = 0;
  Ticks length_along = 0;    // the head is at least this after the tail if there is room along
  Ticks length_against = 0;  // and at most this if there is flow to take back
  Price room_along = unbounded;
  Price room_against = 0;
};

class FlowNetwork {
 public:
  // `trade_offs` by profile; empty where no computation has it. The graph has been checked: indices in range, no cycle.
  // Times are finite.
  FlowNetwork(const records::ComputationGraph& graph, std::span<const TradeOff> trade_offs);

  [[nodiscard]] double ticks_per_second() const { return ticks_per_second_; }
  // What one tick costs at a price of 1.
  [[nodiscard]] Joules cost_unit() const { return cost_unit_; }
  [[nodiscard]] std::int32_t nodes() const { return sink() + 1; }
  [[nodiscard]] std::int32_t source() const { return 2 * computations_; }
  [[nodiscard]] std::int32_t sink() const { return 2 * computations_ + 1; }
  [[nodiscard]] std::int32_t computations() const { return computations_; }
  // Computation i is arc i, from node 2i to node 2i + 1.
  [[nodiscard]] const Arc& arc(std::int32_t index) const { return arcs_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Ticks slowest(std::int32_t computation) const;
  // The ways out of a node, along its outgoing arcs and against its incoming ones.
  [[nodiscard]] std::span<const Way> ways_from(std::int32_t node) const;
  // When each node happens at the earliest if every computation takes its slowest time.
  [[nodiscard]] std::vector<Ticks> earliest_when_slowest() const;

  void push(Way way, Price amount);

 private:
  struct Curve {
    std::vector<Ticks> lengths;  // falling
    std::vector<Price> starts;   // rising from 0: the flow from which each length holds
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
