// What a session measures with: windows of time and energy over the GPUs of this process. It may be a zeus::Monitor
// (monitor_meter.hpp); simulations on a virtual clock bring their own. Names of windows begin with "zeus.". One thread
// at a time.
#pragma once

#include <zeus/measure.hpp>

#include <string_view>

namespace zeus::train {

class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  // The same as the members of zeus::Monitor; they throw Errors.
  virtual void begin(std::string_view window) = 0;
  virtual Measurement end(std::string_view window) = 0;
  virtual Measurement settle(const Measurement& measurement, Seconds patience) = 0;
  virtual void cancel(std::string_view window) = 0;
  // A shorter slice is measured too badly to choose a setting by it.
  [[nodiscard]] virtual Seconds shortest_slice() const { return {}; }
};

}  // namespace zeus::train
