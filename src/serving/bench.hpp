// Measures GPUs while traffic runs. One thread.
#pragma once

#include "base/clock.hpp"
#include "serving/answer.hpp"
#include "serving/bench_result.hpp"
#include "serving/tallies.hpp"
#include "serving/traffic.hpp"

#include <zeus/measure.hpp>

#include <functional>
#include <vector>

namespace zeus::serving {

struct BenchRun {
  Instant began = {};
  Instant ended = {};
  std::vector<Slice> slices = {};
  std::vector<Answer> answers = {};
  Ended how = Ended::complete;
};

// Waits; false if the user has ended the run meanwhile.
using Pause = std::function<bool(Instant until)>;

// Measures until the traffic is over, in slices; without GPUs in the monitor, energies are unknown.
BenchRun run_bench(Traffic& traffic, Monitor& monitor, const Clock& clock, const Pause& pause);

// The figures of a run, put into a result that has its settings.
void put_figures(const BenchRun& run, BenchResult& result);

}  // namespace zeus::serving
