// Measures the slices of a training's profile instead of the training's own monitor: for a program that has changed its
// monitor, replays a log, or has another instrument.
//
// A Training calls it from the thread that reports the training's events and from within its calls: begin(), then end()
// or cancel(). An exception loses the slice, and its message says why.
#pragma once

#include <zeus/measure.hpp>
#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <map>

namespace zeus {

struct MeasuredSlice {
  Seconds time = {};
  std::map<int, MeasuredEnergy> gpu_energy = {};  // for each GPU of this process, by number
};

class SliceMeter {
 public:
  SliceMeter() = default;
  SliceMeter(const SliceMeter&) = delete;
  SliceMeter& operator=(const SliceMeter&) = delete;
  virtual ~SliceMeter() = default;

  virtual void begin(const PowerSetting& setting) = 0;
  virtual MeasuredSlice end() = 0;
  virtual void cancel() = 0;
  // Shorter slices are not measured well. A sweep then gives its slices more steps than it was told to; if that is
  // impossible, the slices are lost.
  [[nodiscard]] virtual Seconds shortest() const { return {}; }
};

}  // namespace zeus
