// What the conformance suite is run on: one back-end, found by name on the command line, and what the suite may do with
// it. Made once by main(), read by the tests; one thread.
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
  // Whether limits and clocks may be set: on devices nobody else uses.
  bool may_set = false;
  // Whether each reading is a question to another process, which takes an allocation (device/gpu.hpp).
  bool is_remote = false;
};

// The subject of this run.
Subject& subject();

// Calls of operator new so far in this thread: hot paths make none.
std::size_t allocations();

// "nvml", "amdsmi", "virtual", or "rapl", whose folder, where there is one, holds a recorded tree. "zeusd" and
// "zeusd_tcp" are a daemon, by its Unix socket and by TCP, over virtual GPUs and the recorded tree.
struct Choice {
  std::string backend;
  std::string folder;
  bool may_set = false;
};

// Finds the devices of a back-end; an invalid_argument Error when there is none of that name.
void choose_subject(const Choice& choice);
// Lets go of them: what threads of a daemon hold of libraries ends before the libraries do.
void leave_subject();

}  // namespace zeus::conformance
