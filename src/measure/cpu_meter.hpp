// Follows one counter of a CPU package: the package's own or its memory's. These counters move every millisecond and
// wrap within minutes. The sampler reads them often enough to see every wrap, and a window is the difference of two
// readings with every wrap in between undone. Every member may be called from any thread.
#pragma once

#include "base/clock.hpp"
#include "device/cpu_package.hpp"

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <mutex>
#include <optional>

namespace zeus::measure {

class CpuMeter {
 public:
  CpuMeter(std::shared_ptr<device::CpuPackage> package, device::CpuDomain domain);

  struct Mark {
    Reading<Joules> total;  // with wraps undone
    std::uint64_t breaks = 0;
    // When it was read, and how long that took.
    Instant at;
    Seconds latency{0};
  };
  // Reads the counter once.
  Mark mark();
  // The sampler's round.
  Instant poll(Instant now);
  void pause();

  [[nodiscard]] const device::CpuPackage& package() const { return *package_; }
  [[nodiscard]] bool present() const { return counter_.has_value(); }
  [[nodiscard]] Joules resolution() const { return counter_->resolution; }

 private:
  std::shared_ptr<device::CpuPackage> package_;
  device::CpuDomain domain_;
  std::optional<device::EnergyCounter> counter_;

  std::mutex mutex_;
  std::optional<device::Stamped<Joules>> last_;
  Joules total_;
  std::uint64_t breaks_ = 0;
};

}  // namespace zeus::measure
