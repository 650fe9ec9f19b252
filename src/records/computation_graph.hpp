// One iteration of pipeline training as a graph: computations, their time and energy at each frequency, and which waits
// for which. Plain values; copy them freely between threads. The solver checks whether the graph makes sense.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus::records {

// Time and energy of a computation at one locked frequency, on one GPU.
struct FrequencyOption {
  Megahertz frequency;  // 0 if there is nothing to set: a computation of fixed time
  Seconds time;
  Joules energy;
  friend bool operator==(const FrequencyOption&, const FrequencyOption&) = default;
};

// The measured options of one kind of computation ("the forward of stage 2"), shared by all computations of that kind.
struct ComputationProfile {
  std::string name;
  std::vector<FrequencyOption> options;
  friend bool operator==(const ComputationProfile&, const ComputationProfile&) = default;
};

struct Computation {
  std::string name;         // unique in the graph: "forward 0.3"
  std::string instruction;  // the training loop's name for it: "forward"
  std::size_t device = 0;
  std::size_t profile = 0;  // index into ComputationGraph::profiles
  friend bool operator==(const Computation&, const Computation&) = default;
};

// `to` starts at least `time` after `from` has ended; that is the time of the communication between them.
struct Dependency {
  std::size_t from = 0;
  std::size_t to = 0;
  Seconds time;
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct ComputationGraph {
  std::vector<ComputationProfile> profiles;
  std::vector<Computation> computations;  // for each device, in the order in which it runs them
  std::vector<Dependency> dependencies;
  std::size_t devices = 1;  // one per pipeline rank
  std::size_t copies = 1;   // GPUs that do each device's work alike, data- and tensor-parallel copies together
  friend bool operator==(const ComputationGraph&, const ComputationGraph&) = default;
};

}  // namespace zeus::records
