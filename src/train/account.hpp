// Where time and energy go: one window after the other without a gap, each booked to a part of an epoch. The time of an
// epoch is this process's own; energies and steps of several ranks are added by exchange(). One thread.
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

// What something took.
struct Amount {
  Seconds time;
  Energy energy;
  bool known = true;  // the energy
  std::uint64_t steps = 0;

  Amount& operator+=(const Amount& other);
};

enum class Part : std::size_t {
  steps,   // training, under what is in force outside of slices
  slices,  // training, while settings are tried
  rest,    // evaluation and the like
};
inline constexpr std::size_t part_count = 3;
using Parts = std::array<Amount, part_count>;

Parts operator+(const Parts& a, const Parts& b);
Amount total(const Parts& parts);

class Account {
 public:
  // Without a meter (no GPU here), energies are zero and known.
  Account(Meter* meter, std::vector<SessionGpu> gpus, Clock& clock, EventReporter& reporter);

  // From now on what happens is of this part; nothing where it is already.
  void enter(Part part);
  // The same, and what was until now can be taken.
  void cut(Part part);
  void count_steps(std::uint64_t steps);
  void close();  // nothing is booked until the next enter()
  // What has been booked since the last take, with measurements as settled as they can be; waits at most `patience`.
  [[nodiscard]] Parts take(Seconds patience);
  // The same without taking or waiting, what is open included as far as its time goes.
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
  [[nodiscard]] static Energy share_of(const Booked& booked, const Energy& energy);
  [[nodiscard]] Amount amount_of(const Booked& booked) const;

  Meter* meter_;
  std::vector<SessionGpu> gpus_;
  Clock& clock_;
  EventReporter& reporter_;
  std::optional<Part> open_;
  std::optional<std::string> window_;  // the one that is open, by name
  bool odd_ = false;
  Instant began_;
  std::uint64_t steps_ = 0;
  std::vector<Booked> booked_;
};

}  // namespace zeus::train
