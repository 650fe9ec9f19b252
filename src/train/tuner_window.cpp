// The windows of slices: what this process measures in them, joined with the other ranks.
#include "train/tuner.hpp"

#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::train {

using optimize::ProfilerActions;

namespace {

constexpr const char* window = "zeus.slice";
// The end of a step is not where the clock is read, by about so much.
constexpr Seconds edge_blur{20e-6};

}  // namespace

void Tuner::open_window() {
  window_boundaries_ = 0;
  window_steps_ = 0;
  window_broken_.clear();
  window_open_ = true;
  try {
    if (parts_.meter != nullptr) {
      parts_.meter->begin(window);
    }
  } catch (const std::exception& error) {
    window_broken_ = error.what();
  }
  capped_at_open_ = parts_.group.capped();
}

void Tuner::cancel_window() {
  if (std::exchange(window_open_, false) && parts_.meter != nullptr && window_broken_.empty()) {
    parts_.meter->cancel(window);
  }
}

ProfilerActions Tuner::close_window() {
  std::string why_lost;
  const optimize::SliceReading reading = read_window(why_lost);
  if (!why_lost.empty()) {
    parts_.herald.tell(SliceLost{.setting = slice_setting_, .why = why_lost});
    return profiler_->on_slice_lost();
  }
  measured_anything_ = true;
  profiled_ = true;
  parts_.herald.tell(SliceMeasured{.setting = slice_setting_,
                                   .steps = window_steps_,
                                   .time = reading.time,
                                   .energy = reading.energy,
                                   .capped = reading.capped});
  return profiler_->on_slice(reading);
}

// What this process has to say of the window: energies are to be added over the ranks, the rest is that of the worst.
Tuner::Reading Tuner::end_window() {
  const std::vector<std::optional<Seconds>> capped_now = parts_.group.capped();
  window_open_ = false;
  Reading reading;
  reading.largest[Reading::capped] = -1;
  reading.largest[Reading::steps] =
      static_cast<double>(window_steps_) / static_cast<double>(std::max<std::uint64_t>(window_boundaries_, 1));
  if (parts_.meter == nullptr || parts_.group.size() == 0) {
    return reading;
  }
  if (!window_broken_.empty()) {
    reading.lose(window_broken_);
    return reading;
  }
  const Measurement measurement = parts_.meter->end(window);
  reading.largest[Reading::time] = measurement.time().value();
  for (std::size_t i = 0; i < parts_.group.size(); ++i) {
    const auto found = measurement.gpu_energy.find(parts_.group.gpus()[i].index);
    if (found == measurement.gpu_energy.end() || !found->second.energy) {
      reading.lose(found == measurement.gpu_energy.end() ? "a GPU is not measured" : found->second.reason);
      continue;
    }
    reading.add(*found->second.energy);
    if (capped_at_open_[i] && capped_now[i] && measurement.time() > Seconds{0}) {
      const double share = (*capped_now[i] - *capped_at_open_[i]) / measurement.time();
      reading.largest[Reading::capped] = std::max(reading.largest[Reading::capped], std::clamp(share, 0.0, 1.0));
    }
  }
  return reading;
}

void Tuner::Reading::lose(const std::string& why) {
  largest[lost] = 1;
  why_lost = why;
}

void Tuner::Reading::add(const Energy& its) {
  sums[energy] += its.value.value();
  sums[variance] += its.uncertainty.value() * its.uncertainty.value();
  sums[systematic] += its.systematic.value_or(Joules{0}).value();
  sums[systematic_unknown] += its.systematic ? 0 : 1;
  largest[method] = std::max(largest[method], static_cast<double>(its.method));
}

// The window over all ranks, as if each of its boundaries were one step. `why_lost` is said when that is not known.
optimize::SliceReading Tuner::read_window(std::string& why_lost) {
  Reading all;
  try {
    all = end_window();
  } catch (const std::exception& error) {
    all.lose(error.what());
  }
  if (!trouble_.empty()) {
    all.largest[Reading::lost] = 2;
  }
  parts_.ranks.max(all.largest);
  parts_.ranks.sum(all.sums);
  if (all.largest[Reading::lost] > 1) {
    throw AgreedFailure{ErrorKind::unavailable, trouble_.empty() ? "another rank lost its lease" : trouble_, {}};
  }
  const double spread = std::sqrt(all.sums[Reading::variance]);
  if (all.largest[Reading::lost] > 0) {
    why_lost = all.why_lost.empty() ? "another rank could not measure it" : all.why_lost;
  } else if (!(all.largest[Reading::time] > 0) || !(all.sums[Reading::energy] > 0) ||
             !std::isfinite(all.sums[Reading::energy] + spread)) {
    why_lost = "it was too short to measure anything";
  }
  const double part = 1.0 / std::max(all.largest[Reading::steps], 1.0);
  optimize::SliceReading reading;
  reading.time = Seconds{all.largest[Reading::time]} * part;
  reading.time_uncertainty = edge_blur * part;
  reading.energy = {.value = Joules{all.sums[Reading::energy]} * part,
                    .uncertainty = Joules{spread} * part,
                    .systematic = std::nullopt,
                    .method = static_cast<EnergyMethod>(static_cast<int>(all.largest[Reading::method]))};
  if (!(all.sums[Reading::systematic_unknown] > 0)) {
    reading.energy.systematic = Joules{all.sums[Reading::systematic]} * part;
  }
  if (all.largest[Reading::capped] >= 0) {
    reading.capped = all.largest[Reading::capped];
  }
  return reading;
}

}  // namespace zeus::train
