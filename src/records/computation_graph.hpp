// One iteration of pipeline training as a graph: computations, what each may cost at which frequency, and who waits for
// whom. Plain values; copy them freely between threads. Whether the graph makes sense is checked by whoever solves it.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus::records {

// What a computation takes at one locked frequency, on one GPU.
struct FrequencyOption {
  Megahertz frequency;  // 0 where there is nothing to set: a computation of fixed time
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
  std::string instruction;  // what the training loop calls it: "forward"
  std::size_t device = 0;
  std::size_t profile = 0;  // index into ComputationGraph::profiles
  friend bool operator==(const Computation&, const Computation&) = default;
};

// `to` starts no earlier than `time` after `from` has ended; the time is that of the communication between them.
struct Dependency {
  std::size_t from = 0;
  std::size_t to = 0;
  Seconds time;
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct ComputationGraph {
  std::vector<ComputationProfile> profiles;
  std::vector<Computation> computations;  // those of one device in the order in which it runs them
  std::vector<Dependency> dependencies;
  std::size_t devices = 1;  // one per pipeline rank
  std::size_t copies = 1;   // GPUs that do each device's work alike, data- and tensor-parallel ones together
  friend bool operator==(const ComputationGraph&, const ComputationGraph&) = default;
};

}  // namespace zeus::records
