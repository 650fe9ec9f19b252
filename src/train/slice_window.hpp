// The window of a slice: what this process measures in it, and the result over all ranks. One thread; the group
// outlives the window.
#pragma once

#include "base/clock.hpp"
#include "optimize/power_limit/slice.hpp"
#include "records/power_setting.hpp"
#include "train/gpu_group.hpp"
#include "train/joining.hpp"
#include "train/meter.hpp"
#include "train/summed_energy.hpp"

#include <zeus/slice_meter.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::train {

// Energies are added over the ranks; every other value is the worst rank's.
struct WindowReading {
  Seconds time;
  SummedEnergy energy;
  std::optional<double> capped;  // the share of time in which a limit held the clocks down
  double steps = 1;              // between two boundaries, on average
  bool lost = false;
  std::string why_lost;    // in this rank
  bool overruled = false;  // another program has changed the setting that was to be measured
  bool trouble = false;    // a rank can no longer set its GPUs

  void lose(const std::string& why);
  void joined(Joining& join);

  // Why there is no reading, or none that lasted `shortest` and is good enough to choose by; mostly empty.
  [[nodiscard]] std::string why_not(Seconds shortest) const;
  // A reading that counts each boundary as one step.
  [[nodiscard]] optimize::SliceReading of_a_boundary() const;
};

// Measures slices with the meter of a training, which outlives the result.
std::shared_ptr<SliceMeter> slices_of(Meter& meter);

class SliceWindow {
 public:
  // `meter` is null without GPUs.
  SliceWindow(std::shared_ptr<SliceMeter> meter, const GpuGroup& group) : meter_{std::move(meter)}, group_{group} {}

  void open(const records::PowerSetting& setting, Instant now);
  // A boundary between steps: this many steps are over since the last one. Does nothing without an open window.
  void count(std::uint64_t steps);
  [[nodiscard]] WindowReading close();
  void cancel();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // Whether the window would be too short to be measured if it ended now.
  [[nodiscard]] bool is_too_short(Instant now) const;
  // Shorter windows are not measured well; 0 where nothing is measured.
  [[nodiscard]] Seconds shortest() const { return meter_ ? meter_->shortest() : Seconds{0}; }

 private:
  void read(WindowReading& reading);

  std::shared_ptr<SliceMeter> meter_;
  const GpuGroup& group_;
  bool open_ = false;
  Instant opened_at_;
  std::string broken_;  // why the window is broken; empty if it is not
  std::uint64_t boundaries_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<std::optional<Seconds>> capped_at_open_;
};

}  // namespace zeus::train
