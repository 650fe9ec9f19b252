// The experiment behind every figure of docs/measurement.md: windows at random on a virtual card whose truth is known,
// on a clock that is only pretended, so that thousands take a second. One thread; the same result on each run.
#pragma once

#include "physics/gpu_model.hpp"

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::test {

struct AccuracySetting {
  physics::GpuModel model;
  Watts low{200};
  Watts high{200};
  Seconds period{0};  // 0: constant
  Seconds window{0.053};
  int windows = 2000;
  bool cold = false;  // nobody looked for 5 s before each window
  std::uint64_t seed = 1;
};

struct Accuracy {
  double error = 0;       // root mean square, relative to that of the plain counter difference
  double coverage = 0;    // share of windows whose 95 % interval holds the truth
  double half_width = 0;  // median, relative to the larger of 3 x the error and 0.1 x mean power x tick
};

struct AccuracyResult {
  Joules plain;  // root-mean-square error of the counter's difference
  Accuracy settled;
  Accuracy immediate;
};

AccuracyResult measure_accuracy(const AccuracySetting& setting);

}  // namespace zeus::test
