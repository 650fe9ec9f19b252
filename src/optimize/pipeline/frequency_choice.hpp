// The step from the frontier's continuous durations to frequencies that a GPU has.
// Choosing is a hard problem (each computation one of a few options), so this is exact only for small graphs; what it
// loses is stated with every choice, against the frontier, which no choice can beat. Deterministic; an object is
// immutable once made and may be asked from any number of threads.
#pragma once

#include "optimize/pipeline/frontier.hpp"
#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

enum class Effort {
  lookup,    // one rounding of the stored plan: microseconds for a pipeline of some dozens of computations
  thorough,  // many, and improvements: milliseconds
};

struct FrequencyChoice {
  std::vector<records::FrequencyOption> options;  // one per computation
  Seconds iteration_time;                         // what the plan takes by itself; at most what was asked for
  Joules energy;                                  // of an iteration of the time asked for, all GPUs, blocking included
  Joules bound;                                   // the frontier's, at the time asked for
};

class FrequencyChooser {
 public:
  // The graph has been accepted by a Frontier with the same blocking power.
  FrequencyChooser(const records::ComputationGraph& graph, Watts blocking_power);

  // The plan with little energy among those that take at most `time`, which is no less than the frontier's fastest.
  [[nodiscard]] FrequencyChoice choose(const Frontier& frontier, Seconds time, Effort effort = Effort::thorough) const;

 private:
  // Positions in the efficient options of each computation.
  using Positions = std::vector<std::uint32_t>;

  struct Neighbour {
    std::size_t computation = 0;
    Seconds gap;
  };

  struct Option {
    Seconds time;
    Joules cost;
  };

  // What rounding writes, and what it needs meanwhile; by computation.
  struct Rounding {
    Positions positions;
    std::vector<Seconds> earliest;  // ends, if every computation took its continuous duration
    std::vector<Seconds> latest;
    std::vector<Seconds> ends;
  };

  class Tightener;
  class Enumeration;

  void index_neighbours(const records::ComputationGraph& graph);
  [[nodiscard]] std::span<const Option> options_of(std::size_t computation) const {
    return options_[profile_[computation]];
  }
  [[nodiscard]] const Option& option(std::size_t computation, const Positions& positions) const {
    return options_of(computation)[positions[computation]];
  }
  [[nodiscard]] Joules cost_of(const Positions& positions) const;
  [[nodiscard]] Seconds iteration_time_of(const Positions& positions) const;
  void round(std::span<const Seconds> durations, Seconds time, double lateness, Rounding& work) const;
  [[nodiscard]] Positions best_start(const Frontier& frontier, Seconds time, Effort effort) const;
  [[nodiscard]] bool is_small() const;
  void improve(Seconds time, Positions& best) const;

  std::vector<std::vector<records::FrequencyOption>> efficient_;  // by profile
  std::vector<std::vector<Option>> options_;                      // the same, priced
  std::vector<Positions> knots_;                                  // which of them the hull has
  std::vector<std::size_t> profile_;                              // by computation
  std::vector<std::size_t> order_;                                // each after all it waits for
  std::vector<std::size_t> first_before_;
  std::vector<Neighbour> before_;
  std::vector<std::size_t> first_after_;
  std::vector<Neighbour> after_;
  Watts all_blocking_;
  double copies_;
};

}  // namespace zeus::optimize::pipeline
