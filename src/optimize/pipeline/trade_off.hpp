// The price of time for one kind of computation: the convex, piecewise-linear lower hull of its measured points. A GPU
// that has nothing to do still draws power while it blocks on its neighbour. The cost of a computation is therefore its
// energy minus what blocking for the same time would have taken. Pure functions on plain values.
#pragma once

#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

// The energy beyond that of blocking for the same time.
Joules cost_of(const records::FrequencyOption& option, Watts blocking_power);

struct Knot {
  Seconds time;
  Joules cost;
  friend bool operator==(const Knot&, const Knot&) = default;
};

// From the fastest point to the cheapest one: times rise, costs fall, and each further second saves less.
using TradeOff = std::vector<Knot>;

// The options that no other one beats in both time and cost, fastest first; of equal ones, that of the highest
// frequency. An empty list, or a negative or non-finite number, is an invalid_argument Error that names `profile`.
std::vector<records::FrequencyOption> efficient_options(const records::ComputationProfile& profile,
                                                        Watts blocking_power);

// The lower hull of the efficient options.
TradeOff trade_off_of(std::span<const records::FrequencyOption> efficient, Watts blocking_power);

// The cost at a time: linear between knots, and that of the cheapest knot beyond the last. `time` must not be below the
// first.
Joules cost_at(const TradeOff& trade_off, Seconds time);

}  // namespace zeus::optimize::pipeline
