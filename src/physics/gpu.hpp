// A virtual GPU over time: a view of a model and a state that the caller owns and keeps alive. Energy, work and
// temperature are pure functions of the events and of time; nothing ticks. They are integrated on request, in closed
// form within a segment, however many periods of a square wave it spans.
//
// start, set_load, set_controls, set_counter and advance write: one writer at a time (the owner of the state has a lock
// for that). The const members only read, take no lock, may run beside a writer, and may be called from any thread.
// Beyond the end of the last published segment they compute what advance would publish. So they are right without
// advance, but each second not yet advanced costs them about the time of one settle(): call advance when needs_advance
// says so.
#pragma once

#include "base/clock.hpp"
#include "physics/gpu_model.hpp"
#include "physics/gpu_state.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <span>

namespace zeus::physics {

class Gpu {
 public:
  // Load::from_table refers to `table`, which is in ascending order of time.
  Gpu(const GpuModel& model, GpuState& state, std::span<const TablePoint> table = {})
      : model_{&model}, state_{&state}, table_{table} {}

  // Makes the state that of an idle GPU at `now`, as cool as its surroundings. Call it before anything else.
  void start(Instant now);
  void start(Instant now, Celsius temperature);

  // Events at `now`. A time before the latest event's counts as that event's time: two processes that race for the lock
  // may get it in another order than they read the clock.
  void set_load(Instant now, const Load& load);
  void set_controls(Instant now, const Controls& controls);
  // Publishes the segments up to `now`. Changes no reading.
  void advance(Instant now);

  [[nodiscard]] bool needs_advance(Instant now) const;
  [[nodiscard]] const GpuModel& model() const { return *model_; }
  [[nodiscard]] Load load() const;
  [[nodiscard]] Controls controls() const;
  [[nodiscard]] CounterState counter() const;
  void set_counter(const CounterState& counter);

  // The true values. A time before `start` reads as if the GPU had been idle then.
  [[nodiscard]] Totals totals(Instant at) const;
  [[nodiscard]] Joules energy(Instant at) const { return totals(at).energy; }
  [[nodiscard]] OperatingPoint operating_point(Instant at) const;
  [[nodiscard]] Celsius temperature(Instant at) const;
  // For recent times, cheaper than calling energy() twice.
  [[nodiscard]] Watts mean_power(Instant from, Instant to) const;

 private:
  [[nodiscard]] bool still_whole(std::uint64_t number) const;
  [[nodiscard]] Segment latest() const;
  [[nodiscard]] Segment segment_at(Instant at) const;
  [[nodiscard]] Segment make_segment(Instant start, const Totals& totals, Celsius temperature, const Load& load,
                                     const Controls& controls, std::uint64_t number) const;
  [[nodiscard]] Segment successor(const Segment& segment) const;
  [[nodiscard]] Joules remembered_energy(Instant at) const;
  void publish(const Segment& segment);
  void begin(Instant now, const Load& load, const Controls& controls);

  const GpuModel* model_;
  GpuState* state_;
  std::span<const TablePoint> table_;
};

}  // namespace zeus::physics
