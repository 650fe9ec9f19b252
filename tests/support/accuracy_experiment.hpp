// The experiment behind every figure of docs/results/measurement.txt: random windows on a virtual GPU whose true energy
// is known, on a virtual clock, so that thousands take a second. One thread; the same result in each run.
#pragma once

#include "physics/gpu_model.hpp"

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::test {

struct AccuracySetting {
  physics::GpuModel model;
  Watts low{200};
  Watts high{200};
  Seconds period{0};       // 0: constant
  bool irregular = false;  // steps to any power in between, a period apart on average, instead of a square wave
  Seconds window{0.053};
  int windows = 2000;
  bool cold = false;    // there were no readings for 5 s before each window
  bool samples = true;  // whether the driver keeps power samples
  Seconds late{0};      // the mean delay of some readings: a busy machine
  std::uint64_t seed = 1;
  // Of several GPUs, the totals are judged.
  int gpus = 1;
  bool ticks_together = false;  // all counters at the same time
  bool in_step = false;         // all draw the same power at any time
};

struct Accuracy {
  double error = 0;     // root-mean-square error, relative to that of the plain counter difference
  double coverage = 0;  // share of windows whose 95 % interval contains the true energy
  Joules half_width;    // median
  Joules quantile_95;   // of the errors' sizes
  double width = 0;     // median half-width, relative to that quantile
  double needed = 0;    // the factor on each half-width with which 95 % of the intervals would contain the true energy
};

struct AccuracyResult {
  Joules plain;  // root-mean-square error of the counter's difference
  Accuracy settled;
  Accuracy immediate;
};

AccuracyResult measure_accuracy(const AccuracySetting& setting);

// The first windows of processes, whose load began within a tick before them on a GPU that had been idle.
struct FirstWindows {
  physics::GpuModel model;
  Watts load{200};
  Seconds window{0.02};
  bool samples = true;  // whether the driver keeps any
  Seconds late{0};
  int windows = 500;
};

// Of settled values; their error is relative to that of the plain difference.
Accuracy measure_first_windows(const FirstWindows& setting);

}  // namespace zeus::test
