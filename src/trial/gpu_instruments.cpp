#include "trial/gpu_instruments.hpp"

#include <utility>

namespace zeus::trial {

void GpuInstruments::begin() {
  limits_.begin();
  found_ = gpus_.limit_in_force();
  measured_any_ = false;
  reference_ = {};
  afterwards_.reset();
  account_.reset();
  account_.emplace(gpus_.meter());
}

void GpuInstruments::measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) {
  const bool measured_before = std::exchange(measured_any_, true) || !gpus_.sets_limits();
  std::vector<Watts> all = reference_.add_to(limits, known, measured_before);
  const Seconds each = time_for_each_limit(profile_time_, known.run_time, all.size());
  if (gpus_.sets_limits() && all.size() > 1) {
    limits_.measure(std::move(all), each);
  } else {
    limits_.watch(limits.front(), each, gpus_.sets_limits());
  }
}

std::vector<records::LimitProfile> GpuInstruments::measured(const std::optional<EpochShape>& shape) {
  return reference_.scale(limits_.measured(shape));
}

Instruments::Taken GpuInstruments::close() {
  const bool already = afterwards_.has_value();
  if (!already) {
    afterwards_.emplace(gpus_.meter(), "zeus.trial.afterwards");  // begins before settling, which may take a second
  }
  Taken taken = account_->close();
  if (!already) {
    gpus_.confirm();
  }
  return taken;
}

Instruments::State GpuInstruments::state() {
  return {.measuring = limits_.measuring(),
          .disturbed = limits_.comparing(),
          .left_alone = gpus_.left_alone(),
          .limit = gpus_.chosen(),
          .found = limits_.set_any() ? std::nullopt : found_};
}

}  // namespace zeus::trial
