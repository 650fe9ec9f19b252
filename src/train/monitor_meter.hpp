// A zeus::Monitor as what a session measures with. One thread at a time; shares the monitor with the user's own
// windows.
#pragma once

#include "train/meter.hpp"

#include <zeus/measure.hpp>

#include <memory>
#include <utility>

namespace zeus::train {

class MonitorMeter final : public Meter {
 public:
  explicit MonitorMeter(std::shared_ptr<Monitor> monitor) : monitor_{std::move(monitor)} {}

  void begin(std::string_view window) override { monitor_->begin(window, true); }
  Measurement end(std::string_view window) override { return monitor_->end(window); }
  Measurement settle(const Measurement& measurement, Seconds patience) override {
    return monitor_->settle(measurement, patience);
  }
  void cancel(std::string_view window) override { monitor_->cancel(window); }
  // Counters move every 20 to 100 ms (docs/measurement.md).
  [[nodiscard]] Seconds shortest_slice() const override { return 100_ms; }

 private:
  std::shared_ptr<Monitor> monitor_;
};

}  // namespace zeus::train
