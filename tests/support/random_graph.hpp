// Random computation graphs for property tests: realistic measured points (noisy, not convex, repeated, single, of zero
// length), dependencies with and without time. The same seed gives the same graph.
#pragma once

#include "base/random.hpp"
#include "records/computation_graph.hpp"

#include <cstddef>

namespace zeus::test {

struct GraphKind {
  std::size_t most_computations = 60;
  std::size_t fewest_computations = 1;
  std::size_t most_options = 15;
  std::size_t fewest_options = 1;
  double noise = 0.05;        // relative, of each measured time and energy
  bool with_oddities = true;  // fixed computations, computations of no length, points measured twice
};

records::ComputationGraph random_graph(Random& random, const GraphKind& kind);

}  // namespace zeus::test
