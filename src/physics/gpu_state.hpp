// The whole state of one virtual GPU: what has happened to it so far, as segments within which everything is known in
// closed form. Trivially copyable, of a fixed size, without pointers, so that several processes can share it in memory.
//
// Writers (Gpu::set_load, set_controls, advance) take turns under their owner's lock. Each writes a segment into the
// next slot and then publishes it with one store, so a writer killed at any instant leaves the state either as before
// or as after. Readers need no lock: they copy a segment and check that it is still the one they meant.
#pragma once

#include "base/clock.hpp"
#include "physics/controls.hpp"
#include "physics/load.hpp"
#include "physics/operating_point.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zeus::physics {

// Sums since the session began.
struct Totals {
  Joules energy;
  Joules seen;        // the part of it within the windows of a part-time energy counter; 0 if there is no such counter
  Seconds work;       // work done, in seconds at the highest clock without a limit
  Seconds busy;       // while kernels ran
  Seconds capped;     // while the power limit held the clock down
  Seconds throttled;  // while the temperature held the clock down

  friend bool operator==(const Totals&, const Totals&) = default;
};

// From `start` until the next segment, and at most until `end`: load and controls stay, the temperature's effect on
// power is held, and the load alternates between at most two operating points.
struct Segment {
  std::uint64_t number = 0;
  Instant start;
  Instant end;
  Totals at_start;
  Celsius temperature;
  Load load;
  Controls controls;
  // For a square load, the first of its two points; if the period is 0, the only point.
  OperatingPoint first;
  OperatingPoint second;
  Instant origin;
  std::int64_t period_ns = 0;
  std::int64_t first_lasts_ns = 0;
};

// A point of the energy curve, kept for times before the oldest segment.
struct EnergyMark {
  Instant at;
  Joules energy;
};

// Faults of the energy counter: its value is (true energy + offset), and it starts over at `wrap` if that is above
// zero; while `frozen`, it stays at `frozen_at`.
struct CounterState {
  Joules offset;
  Joules wrap;
  Joules frozen_at;
  bool frozen = false;
};

struct GpuState {
  static constexpr std::uint32_t layout = 1;
  static constexpr std::size_t segment_slots = 64;
  static constexpr std::size_t mark_slots = 1024;

  std::uint32_t layout_version = layout;
  std::uint32_t reserved = 0;
  std::uint64_t segments_published = 0;
  std::uint64_t marks_published = 0;
  CounterState counter;
  std::array<Segment, segment_slots> segments{};
  std::array<EnergyMark, mark_slots> marks{};
};

static_assert(std::is_trivially_copyable_v<GpuState>);
static_assert(std::is_standard_layout_v<GpuState>);

}  // namespace zeus::physics
