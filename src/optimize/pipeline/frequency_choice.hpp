// The step from the frontier's continuous durations to frequencies that a GPU has. The choice is a hard problem (one of
// a few options for each computation), so it is exact only for small graphs. Each choice reports what it loses against
// the frontier, which no choice can beat. Deterministic. An object is immutable once made; any number of threads may
// call it.
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
  lookup,    // one rounding of the stored plan: microseconds for a pipeline of a few dozen computations
  thorough,  // many roundings, and improvements: milliseconds
};

struct FrequencyChoice {
  std::vector<records::FrequencyOption> options;  // one per computation
  Seconds iteration_time;                         // what the plan itself takes; at most the requested time
  Joules energy;                                  // of an iteration of the requested time, all GPUs, blocking included
  Joules bound;                                   // the frontier's energy at the requested time
};

class FrequencyChooser {
 public:
  // A Frontier with the same blocking power must have accepted the graph.
  FrequencyChooser(const records::ComputationGraph& graph, Watts blocking_power);

  // A plan of low energy among those that take at most `time`. `time` must not be below the frontier's fastest.
  [[nodiscard]] FrequencyChoice choose(const Frontier& frontier, Seconds time, Effort effort = Effort::thorough) const;

 private:
  // For each computation, its position in the efficient options.
  using Positions = std::vector<std::uint32_t>;

  struct Neighbour {
    std::size_t computation = 0;
    Seconds gap;
  };

  struct Option {
    Seconds time;
    Joules cost;
  };

  // The results and the working memory of one rounding, by computation.
  struct Rounding {
    Positions positions;
    std::vector<Seconds> earliest;  // earliest ends, if every computation took its continuous duration
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
  std::vector<std::vector<Option>> options_;                      // the same, with costs
  std::vector<Positions> knots_;                                  // the positions of those on the hull
  std::vector<std::size_t> profile_;                              // by computation
  std::vector<std::size_t> order_;                                // each computation after all those that it waits for
  std::vector<std::size_t> first_before_;
  std::vector<Neighbour> before_;
  std::vector<std::size_t> first_after_;
  std::vector<Neighbour> after_;
  Watts all_blocking_;
  double copies_;
};

}  // namespace zeus::optimize::pipeline
