// Where time and energy go: windows without gaps, each booked to a part of an epoch. The time of an epoch is this
// process's own; exchange() adds the energies and steps of several ranks. One thread.
#pragma once

#include "base/clock.hpp"
#include "train/event_reporter.hpp"
#include "train/meter.hpp"
#include "train/session_parts.hpp"

#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::train {

// What a part took.
struct Amount {
  Seconds time;
  Energy energy;
  bool known = true;  // whether the energy is known
  std::uint64_t steps = 0;

  Amount& operator+=(const Amount& other);
};

enum class Part : std::size_t {
  steps,   // training outside of slices, with the setting in force
  slices,  // training while settings are tried
  rest,    // evaluation and the like
};
inline constexpr std::size_t part_count = 3;
using Parts = std::array<Amount, part_count>;

Parts operator+(const Parts& a, const Parts& b);
Amount total(const Parts& parts);

class Account {
 public:
  // Without a meter (no GPU here), energies are zero and count as known.
  Account(Meter* meter, std::vector<SessionGpu> gpus, Clock& clock, EventReporter& reporter);

  // Everything from now on belongs to this part. Does nothing if that is so already.
  void enter(Part part);
  // The same, and begins a new window even within a part, so that take() includes everything up to now.
  void cut(Part part);
  void count_steps(std::uint64_t steps);
  // This session has just changed what the GPUs draw. A window that ends soon after is waited for, since nothing that
  // was seen before says how it ends.
  void power_was_set() { power_set_at_ = clock_.now(); }
  void close();  // books nothing until the next enter()
  // What was booked since the last take, with measurements as settled as possible. Waits at most `patience` for each;
  // for one that ended just after the power was set, until two ticks of its counter have come.
  [[nodiscard]] Parts take(Seconds patience);
  // The time alone, without taking or waiting; includes the open window.
  [[nodiscard]] Seconds time_so_far() const;
  [[nodiscard]] bool is_open() const { return open_.has_value(); }
  [[nodiscard]] std::optional<Part> part() const { return open_; }

 private:
  struct Booked {
    Part part = Part::rest;
    Seconds time;
    std::uint64_t steps = 0;
    std::optional<Measurement> measurement;
  };

  void open(Part part);
  void end(const std::optional<std::string>& name, Booked& booked);
  [[nodiscard]] bool ended_unforeseen(const Booked& booked) const;
  [[nodiscard]] static Energy share_of(const Booked& booked, const Energy& energy);
  [[nodiscard]] Amount amount_of(const Booked& booked) const;

  Meter* meter_;
  std::vector<SessionGpu> gpus_;
  Clock& clock_;
  EventReporter& reporter_;
  std::optional<Part> open_;
  std::optional<std::string> window_;  // the name of the open one
  bool odd_ = false;
  Instant began_;
  std::uint64_t steps_ = 0;
  std::optional<Instant> power_set_at_;
  std::vector<Booked> booked_;
};

}  // namespace zeus::train
