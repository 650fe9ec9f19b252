// The window of a slice: what this process measures in it, and what that comes to over all ranks. One thread; what a
// window is given outlives it.
#pragma once

#include "optimize/power_limit/slice.hpp"
#include "train/gpu_group.hpp"
#include "train/joining.hpp"
#include "train/meter.hpp"
#include "train/summed_energy.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::train {

// Energies are added over the ranks, the rest is that of the worst.
struct WindowReading {
  Seconds time;
  SummedEnergy energy;
  std::optional<double> capped;  // share of the time in which a limit held the clocks down
  double steps = 1;              // between two boundaries, on average
  bool lost = false;
  std::string why_lost;    // in this rank
  bool overruled = false;  // what was to be measured is not in force any more
  bool trouble = false;    // in a rank, for good

  void lose(const std::string& why);
  void joined(Joining& join);

  // Why there is nothing to be read; empty mostly.
  [[nodiscard]] std::string why_not() const;
  // As if each boundary were one step.
  [[nodiscard]] optimize::SliceReading of_a_boundary() const;
};

class SliceWindow {
 public:
  // `meter` is null without GPUs.
  SliceWindow(Meter* meter, const GpuGroup& group) : meter_{meter}, group_{group} {}

  void open();
  // A boundary between steps: so many are over since the last one. Nothing where no window is open.
  void count(std::uint64_t steps);
  [[nodiscard]] WindowReading close();
  void cancel();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  void read(WindowReading& reading);

  Meter* meter_;
  const GpuGroup& group_;
  bool open_ = false;
  std::string broken_;  // why, when it is
  std::uint64_t boundaries_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<std::optional<Seconds>> capped_at_open_;
};

}  // namespace zeus::train
