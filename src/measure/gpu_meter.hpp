// Follows one GPU: its energy counter, or its power if it has no counter, its temperature, and what throttles it. The
// calling thread takes the readings. The driver is never called with the lock held, so a thread that waits for the
// driver does not block the others. Any thread may call any member. Bounded memory.
#pragma once

#include "base/clock.hpp"
#include "device/gpu.hpp"
#include "measure/calibration.hpp"
#include "measure/counter_track.hpp"
#include "measure/edge.hpp"
#include "measure/power_track.hpp"
#include "measure/recent_load.hpp"

#include <zeus/device_values.hpp>
#include <zeus/energy.hpp>
#include <zeus/measure.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::measure {

// What the sampler has spent, in all.
struct Spent {
  std::atomic<std::int64_t> driver_ns{0};
};

class GpuMeter {
 public:
  explicit GpuMeter(std::shared_ptr<device::Gpu> gpu);

  // Reads what an edge needs, with one call to the driver. Returns the number of breaks so far.
  std::uint64_t mark();
  // The sampler's round: reads what is due and returns when to come again.
  Instant poll(const Clock& clock, Spent& spent);
  // No readings until the next poll() or mark().
  void pause();
  // In a forked child, before anything else.
  device::Outcome reopen();

  // The energy at an instant; nothing if it is unknown (`why_not` gives the reason).
  [[nodiscard]] std::optional<Edge> edge(Instant at) const;
  [[nodiscard]] bool final(Instant at) const;
  // How its power changed of late; nothing is known without a counter.
  [[nodiscard]] RecentLoad recent_load() const;
  // Grows when the counter was reset, the driver reloaded or the device lost: no energy is known across it.
  [[nodiscard]] std::uint64_t breaks() const;
  [[nodiscard]] std::string why_broken() const;
  [[nodiscard]] std::string why_not() const;
  [[nodiscard]] EnergyMethod method() const { return has_counter_ ? EnergyMethod::counter : EnergyMethod::integrated; }
  // The energy of the same time by the power samples alone, if there are enough of them to compare.
  [[nodiscard]] std::optional<Joules> energy_by_samples(Instant from, Instant to) const;
  // Whether the counter seems to see only a part of the time.
  [[nodiscard]] bool counter_sees_a_part() const;
  [[nodiscard]] std::optional<EnergyBetween> rough_energy(Instant from, Instant to) const;
  // The energy of a window so short that nothing was read around it: 0, give or take what the GPU may draw at most.
  // Nothing if the window is longer, or readings fail.
  [[nodiscard]] std::optional<EnergyBetween> hardly_any_energy(Instant from, Instant to) const;
  // How much more than `value` the GPU may have drawn in a short window that is mostly later than the sensor's last
  // update.
  [[nodiscard]] Joules possibly_beyond_readings(Instant from, Instant to, Joules value) const;

  [[nodiscard]] ThrottleTime throttled(Instant from, Instant to) const;
  [[nodiscard]] std::vector<device::Stamped<Watts>> powers(Instant since) const;
  [[nodiscard]] std::vector<device::Stamped<Celsius>> temperatures(Instant since) const;
  [[nodiscard]] const device::Gpu& gpu() const { return *gpu_; }

 private:
  void take_in(const Reading<device::Stamped<Joules>>& reading);
  void take_in_power(const Reading<device::Stamped<Watts>>& reading);
  bool take_in_samples(const device::Outcome& outcome, std::span<const device::Stamped<Watts>> samples);
  [[nodiscard]] Instant latest_sample() const;
  [[nodiscard]] const Calibration& calibration() const;  // with the lock held
  // The prediction of an edge whose tick is overdue, by the power samples; with the lock held.
  void follow_power(Edge& edge) const;
  void note_failure(const Failure& failure);
  void break_off(std::string why);
  void read_power(const Clock& clock, Spent& spent);
  void read_slow_sensors(Instant now, const Clock& clock, Spent& spent);
  [[nodiscard]] Instant next_round(Instant now) const;
  [[nodiscard]] Joules beyond_readings(Instant from, Instant to, Joules value) const;

  std::shared_ptr<device::Gpu> gpu_;
  std::optional<SensorTiming> timing_;
  bool has_counter_ = false;
  bool has_samples_ = false;
  std::optional<PowerKind> power_kind_;
  Watts most_power_;

  mutable std::mutex mutex_;
  CounterTrack track_;
  // Of the track's history, once they have been needed.
  mutable std::optional<Calibration> calibration_;
  mutable std::optional<RecentLoad> recent_load_;
  PowerTrack power_;
  std::deque<device::Stamped<Celsius>> temperatures_;
  std::deque<device::ThrottleTimes> throttle_times_;
  std::uint64_t breaks_ = 0;
  std::uint64_t generation_ = 0;
  std::string why_broken_;
  std::optional<Failure> failure_;
  Instant power_due_;
  Instant slow_due_;
  std::vector<device::Stamped<Watts>> samples_;  // the sampler's buffer
};

}  // namespace zeus::measure
