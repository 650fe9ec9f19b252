// The content of a report on a pipeline: its frontier, and how iterations run under some plans. Plain values; copy them
// freely between threads.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::records {

// One computation in time.
struct TimelineBox {
  std::string name;
  std::size_t device = 0;
  Seconds start;
  Seconds duration;
  Megahertz frequency;  // 0 if none is set
  Watts power;          // on average, of one GPU
};

struct Timeline {
  Seconds time;   // of the iteration
  Joules energy;  // of all GPUs in that time, including blocking
  Joules bound;   // a lower bound on the energy of any plan with that time
  std::vector<TimelineBox> boxes;
  std::vector<std::size_t> critical;  // a chain of boxes from start to end; each waits for the one before it
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
  Seconds least_energy;              // the iteration time with the least energy
  std::vector<StudyPoint> frontier;  // fastest first
  Timeline fastest;                  // every computation at its fastest: the state before planning
  std::vector<Timeline> plans;       // fastest first
  std::size_t chosen = 0;            // the plan to show first
};

// Iterations that were measured, for the report that shows them.
struct MeasuredRun {
  Timeline timeline;  // `time` and `energy` are means
  Seconds time_uncertainty;
  Joules energy_uncertainty;
  std::size_t iterations = 1;
  std::optional<StudyPoint> claimed;
};

struct MeasuredStudy {
  std::size_t devices = 1;
  MeasuredRun before;
  MeasuredRun after;
};

}  // namespace zeus::records
