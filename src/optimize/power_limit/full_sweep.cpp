#include "optimize/power_limit/full_sweep.hpp"

#include "optimize/power_limit/choice.hpp"

#include <zeus/error.hpp>

#include <utility>

namespace zeus::optimize {

FullSweep::FullSweep(const SettingRange& range, Selector selector, const FullSweepOptions& options)
    : selector_{std::move(selector)}, options_{options} {
  if (options.measure == 0) {
    throw Error{ErrorKind::invalid_argument, "a slice of a power limit would measure 0 steps", "measure at least 1"};
  }
  for (const Watts limit : range.limits()) {
    left_.push_back({.limit = limit, .clock = std::nullopt});
  }
}

std::optional<SliceRequest> FullSweep::next() {
  if (left_.empty()) {
    return std::nullopt;
  }
  return SliceRequest{.setting = left_.front(), .settle = options_.settle, .measure = options_.measure};
}

void FullSweep::measured(const Slice& slice) {
  measurements_.push_back(measurement_of(slice));
  refused(slice.setting);
}

void FullSweep::refused(const records::PowerSetting& setting) {
  std::erase(left_, setting);
}

std::optional<records::PowerSetting> FullSweep::optimum() const {
  return choose(selector_, measurements_);
}

}  // namespace zeus::optimize
