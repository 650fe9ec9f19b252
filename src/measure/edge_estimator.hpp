// Says where an energy counter would have stood at any instant, though it only moves in ticks. Between two ticks the
// energy is known; how it was spent there is drawn from the device's power samples, whose averaging window is shorter
// than a tick on many cards, and from the levels of the neighbouring ticks: a mean that lies between two levels that
// the load is seen to keep is a step from one to the other. After the last tick, power is predicted by whichever simple
// rule has predicted this load best so far. How wrong all this has been lately is the doubt of the next edge.
// Not thread-safe; whoever owns it takes turns. Bounded memory; edge() after the last tick costs no more than some
// arithmetic.
#pragma once

#include "device/stamped.hpp"
#include "measure/cells.hpp"
#include "measure/counter_track.hpp"
#include "measure/edge.hpp"
#include "measure/forecast.hpp"
#include "measure/sensor_timing.hpp"
#include "measure/unseen.hpp"

#include <zeus/units.hpp>

#include <deque>
#include <optional>
#include <span>

namespace zeus::measure {

class EdgeEstimator {
 public:
  // Without a timing, or with one that covers all of the time, samples say nothing beyond the counter. `most` is what
  // the device may draw.
  EdgeEstimator(device::EnergyCounter counter, std::optional<SensorTiming> timing, Watts most = most_of_any_gpu)
      : track_{counter}, timing_{timing}, most_{most}, resolution_{counter.resolution}, forecast_{most} {}

  // Feeds a reading of the counter. Power samples up to a tick should be fed before or soon after it.
  CounterTrack::Observation observe(Instant at, Seconds latency, Joules value);
  // Samples of the driver's, oldest first; those already known are left out.
  void observe_samples(std::span<const device::Stamped<Watts>> samples);
  void pause();

  // Nothing when no reading is near enough to say anything.
  [[nodiscard]] std::optional<Edge> edge(Instant at) const;
  // Whether waiting longer would not make the edge at this instant any better.
  [[nodiscard]] bool final(Instant at) const;

  // Whether the counter has not moved for so long before this instant that nothing can be said of it.
  [[nodiscard]] bool stands_still(Instant at) const;

  // Whether the counter seems to look at no more of the time than the samples do.
  [[nodiscard]] bool sees_a_part() const { return unseen_.suspected(); }

  [[nodiscard]] const CounterTrack& track() const { return track_; }
  // The stamp after which samples are not known yet.
  [[nodiscard]] Instant latest_sample() const { return latest_sample_; }

 private:
  static constexpr std::size_t reach = 2;  // ticks on either side that are looked at
  static_assert(Cells::most >= 2 * (2 * reach + 1));

  // Samples in a row of one value. Those of a steady load do not show when the sensor was updated; a change does.
  struct Run {
    Watts value;
    Instant first;
    Instant last;
  };

  [[nodiscard]] std::optional<Watts> sample_before(Instant tick) const;
  void cells_before(Instant oldest, Cells& cells) const;
  void cells_between(const Tick& lower, const Tick& upper, Cells& cells) const;
  [[nodiscard]] Edge settled_edge(std::size_t lower, Instant at) const;
  [[nodiscard]] Edge predicted_edge(Instant at) const;
  [[nodiscard]] Watts last_mean() const;
  void begin_forecast();
  void learn_tick();
  void learn_sample();

  CounterTrack track_;
  std::optional<SensorTiming> timing_;
  Watts most_;
  Joules resolution_;
  std::deque<Run> runs_;
  Instant latest_sample_;
  // Learnt from tick to tick.
  Forecast forecast_;
  UnseenTime unseen_;
  double wave_ = 0;  // mean square (J^2) of what a wave within ticks takes from its mean, as samples show it
  double waves_ = 0;
  bool sample_awaited_ = false;
};

}  // namespace zeus::measure
