#include "train/slice_window.hpp"

#include "control/lessor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace zeus::train {

namespace {

// The clock is read about this far from the end of a step.
constexpr Seconds edge_blur{20e-6};

class Slices final : public SliceMeter {
 public:
  explicit Slices(Meter& meter) : meter_{meter} {}

  void begin(const PowerSetting& /*setting*/) override { meter_.begin(window); }
  MeasuredSlice end() override {
    const Measurement measurement = meter_.end(window);
    return {.time = measurement.time(), .gpu_energy = measurement.gpu_energy};
  }
  void cancel() override { meter_.cancel(window); }
  [[nodiscard]] Seconds shortest() const override { return meter_.shortest_slice(); }

 private:
  static constexpr const char* window = "zeus.slice";
  Meter& meter_;
};

}  // namespace

std::shared_ptr<SliceMeter> slices_of(Meter& meter) {
  return std::make_shared<Slices>(meter);
}

void WindowReading::lose(const std::string& why) {
  lost = true;
  why_lost = why;
}

void WindowReading::joined(Joining& join) {
  join.largest(time);
  energy.joined(join);
  join.largest(capped);
  join.largest(steps);
  join.any(lost);
  join.any(overruled);
  join.any(trouble);
}

std::string WindowReading::why_not(Seconds shortest) const {
  if (lost) {
    return why_lost.empty() ? "another rank could not measure it" : why_lost;
  }
  const Energy all = energy.energy();
  if (!(time > Seconds{0}) || !(all.value > Joules{0}) || !std::isfinite((all.value + all.uncertainty).value())) {
    return "it was too short to measure anything";
  }
  if (time < shortest) {
    return fmt::format("{:.3g} s are too short to be measured: it needs {:.3g} s; give each limit more steps",
                       time.value(), shortest.value());
  }
  return {};
}

optimize::SliceReading WindowReading::of_a_boundary() const {
  const double part = 1.0 / std::max(steps, 1.0);
  Energy share = energy.energy();
  share.value *= part;
  share.uncertainty *= part;
  if (share.systematic) {
    *share.systematic *= part;
  }
  return {.time = time * part, .time_uncertainty = edge_blur * part, .energy = share, .capped = capped};
}

bool SliceWindow::is_too_short(Instant now) const {
  return open_ && meter_ && broken_.empty() && now - opened_at_ < meter_->shortest();
}

void SliceWindow::open(const records::PowerSetting& setting, Instant now) {
  boundaries_ = 0;
  steps_ = 0;
  broken_.clear();
  open_ = true;
  opened_at_ = now;
  try {
    if (meter_) {
      meter_->begin(setting);
    }
  } catch (const std::exception& error) {
    broken_ = error.what();
  }
  capped_at_open_ = group_.capped();
}

void SliceWindow::count(std::uint64_t steps) {
  if (open_) {
    ++boundaries_;
    steps_ += steps;
  }
}

void SliceWindow::cancel() {
  if (std::exchange(open_, false) && meter_ && broken_.empty()) {
    meter_->cancel();
  }
}

WindowReading SliceWindow::close() {
  WindowReading reading;
  try {
    read(reading);
  } catch (const std::exception& error) {
    reading.lose(error.what());
  }
  return reading;
}

void SliceWindow::read(WindowReading& reading) {
  const std::vector<std::optional<Seconds>> capped_now = group_.capped();
  open_ = false;
  reading.steps = static_cast<double>(steps_) / static_cast<double>(std::max<std::uint64_t>(boundaries_, 1));
  if (!meter_ || group_.size() == 0) {
    return;
  }
  if (!broken_.empty()) {
    reading.lose(broken_);
    return;
  }
  const MeasuredSlice measured = meter_->end();
  std::string why;
  try {
    why = group_.overruled();
  } catch (const control::LessorAway& error) {
    why = error.message();
  }
  if (!why.empty()) {
    reading.overruled = true;
    reading.lose(why);
    return;
  }
  reading.time = measured.time;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    const auto found = measured.gpu_energy.find(group_.gpus()[i].index);
    if (found == measured.gpu_energy.end() || !found->second.energy) {
      reading.lose(found == measured.gpu_energy.end() ? "a GPU is not measured" : found->second.reason);
      continue;
    }
    reading.energy.add(*found->second.energy);
    if (capped_at_open_[i] && capped_now[i] && measured.time > Seconds{0}) {
      const double share = (*capped_now[i] - *capped_at_open_[i]) / measured.time;
      reading.capped = std::max(reading.capped.value_or(0.0), std::clamp(share, 0.0, 1.0));
    }
  }
}

}  // namespace zeus::train
