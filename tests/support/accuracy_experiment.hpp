// The experiment behind every figure of docs/results/measurement.txt: windows at random on a virtual card whose truth
// is known, on a clock that is only pretended, so that thousands take a second. One thread; the same result on each
// run.
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
  bool irregular = false;  // steps to any power in between, a period apart on average, in place of a square wave
  Seconds window{0.053};
  int windows = 2000;
  bool cold = false;    // nobody looked for 5 s before each window
  bool samples = true;  // whether the driver keeps power samples
  Seconds late{0};      // by how much somebody who wanted to look is held up now and then, on average: a busy machine
  std::uint64_t seed = 1;
};

struct Accuracy {
  double error = 0;     // root mean square, relative to that of the plain counter difference
  double coverage = 0;  // share of windows whose 95 % interval holds the truth
  Joules half_width;    // median
  Joules quantile_95;   // of the errors' sizes
  double width = 0;     // median half-width, relative to that quantile
  double needed = 0;    // what factor on each half-width would make 95 % of the intervals hold the truth
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
