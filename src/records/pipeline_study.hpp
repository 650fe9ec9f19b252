// What a report on a pipeline shows: its frontier, and iterations as they run under some plans.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus::records {

// One computation in time.
struct TimelineBox {
  std::string name;
  std::size_t device = 0;
  Seconds start;
  Seconds duration;
  Megahertz frequency;  // 0 where none is set
  Watts power;          // on average, of one GPU
};

struct Timeline {
  Seconds time;   // of the iteration
  Joules energy;  // of all GPUs in that time, blocking included
  Joules bound;   // the least energy that any plan could have in that time
  std::vector<TimelineBox> boxes;
  std::vector<std::size_t> critical;  // boxes of which each waits for the one before it, from the start to the end
};

struct StudyPoint {
  Seconds time;
  Joules energy;
};

struct PipelineStudy {
  std::string title;
  std::string subtitle;
  std::size_t devices = 1;
  std::size_t copies = 1;
  Watts blocking_power;
  Seconds least_energy;              // the iteration time at which energy is least
  std::vector<StudyPoint> frontier;  // fastest first
  Timeline fastest;                  // every computation at its fastest: before
  std::vector<Timeline> plans;       // fastest first
  std::size_t chosen = 0;            // the plan to show first
};

}  // namespace zeus::records
