// Windows of time and energy over one GPU on a virtual clock, read from the GPU's own counter. The counter's period
// determines each window's uncertainty. One thread.
#pragma once

#include "base/clock.hpp"
#include "device/gpu.hpp"
#include "train/meter.hpp"

#include <zeus/energy.hpp>
#include <zeus/units.hpp>

#include <map>
#include <memory>
#include <string>

namespace zeus::demo {

class CounterMeter final : public train::Meter {
 public:
  // The counter moves every `period`. `clock` must outlive the meter.
  CounterMeter(std::shared_ptr<const device::Gpu> gpu, Seconds period, const Clock& clock);

  // An unavailable Error if the counter cannot be read.
  void begin(std::string_view window) override;
  Measurement end(std::string_view window) override;
  Measurement settle(const Measurement& measurement, Seconds patience) override;
  void cancel(std::string_view window) override;

 private:
  struct Mark {
    Instant at;
    Joules counter;
  };
  [[nodiscard]] Mark mark() const;
  [[nodiscard]] Energy between(const Mark& from, const Mark& to) const;

  std::shared_ptr<const device::Gpu> gpu_;
  Seconds period_;
  const Clock& clock_;
  std::map<std::string, Mark, std::less<>> open_;
};

}  // namespace zeus::demo
