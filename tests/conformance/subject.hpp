// The subject of the conformance suite: one back-end, named on the command line, and what the suite may do with it.
// main() creates it once, the tests read it; one thread.
#pragma once

#include "base/clock.hpp"
#include "device/backend.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::conformance {

struct Subject {
  std::string name;
  Clock* clock = nullptr;
  device::Discovery found;
  // Lets time pass, so that counters move.
  std::function<void(Seconds)> pass;
  // Whether limits and clocks may be set: only on devices that no other process uses.
  bool may_set = false;
  // Whether each reading asks another process, which allocates memory (device/gpu.hpp).
  bool is_remote = false;
};

// The subject of this run.
Subject& subject();

// The number of calls of operator new in this thread: hot paths make none.
std::size_t allocations();

// "nvml", "amdsmi", "virtual", or "rapl", whose folder, if given, has a recorded tree. "zeusd" and "zeusd_tcp" are a
// daemon, over its Unix socket and over TCP, with virtual GPUs and the recorded tree.
struct Choice {
  std::string backend;
  std::string folder;
  bool may_set = false;
};

// Finds the devices of a back-end; an invalid_argument Error if the name is unknown.
void choose_subject(const Choice& choice);
// Releases them, so that a daemon's threads end before the libraries that they use.
void leave_subject();

}  // namespace zeus::conformance
