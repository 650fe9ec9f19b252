#include "job_library/reported_instruments.hpp"

#include "job_library/require.hpp"
#include "records/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::job_library {

namespace {

constexpr const char* elsewhere = "elsewhere";
constexpr const char* not_told = "it was not reported";

template <typename Quantity>
bool is_some(Quantity quantity) {
  return std::isfinite(quantity.value()) && quantity.value() > 0;
}

bool is_doubt(double half_width) {
  return std::isfinite(half_width) && half_width >= 0;
}

}  // namespace

void ReportedInstruments::begin() {
  taken_ = {};
  open_ = true;
  measured_any_ = false;
  leave();
}

void ReportedInstruments::hold(Watts limit) {
  leave();
  limit_ = limit;
}

void ReportedInstruments::leave() {
  limit_.reset();
  to_measure_.clear();
}

void ReportedInstruments::measure(const std::vector<Watts>& limits, const jobs::Try::Known& known) {
  leave();
  measured_.clear();
  to_measure_ = reference_.add_to(limits, known, std::exchange(measured_any_, true));
  if (to_measure_.size() == 1) {
    limit_ = to_measure_.front();
  }
}

// Without a report, the consumption is unknown, not zero.
ReportedInstruments::Taken ReportedInstruments::look() {
  Taken taken = taken_;
  if (taken.gpus.empty() && taken.unknown.empty()) {
    taken.unknown = not_told;
  }
  return taken;
}

ReportedInstruments::Taken ReportedInstruments::close() {
  open_ = false;
  return look();
}

ReportedInstruments::State ReportedInstruments::state() {
  return {.measuring = !to_measure_.empty(),
          .disturbed = to_measure_.size() > 1,
          .left_alone = {},
          .limit = limit_,
          .found = {}};
}

void ReportedInstruments::tell(Seconds time, std::optional<Energy> energy) {
  require(std::isfinite(time.value()) && time >= Seconds{}, "a reported time is not a number of seconds from 0",
          "report the time since the last report");
  require(!energy || (is_doubt(energy->value.value()) && is_doubt(energy->uncertainty.value())),
          "a reported energy is not a number of joules from 0",
          "leave it out if it is unknown: Zeus then learns nothing from the try");
  if (!open_) {
    return;
  }
  taken_.time += time;
  if (!energy) {
    taken_.unknown = not_told;
  } else if (taken_.gpus.empty()) {
    taken_.gpus.push_back({.gpu = elsewhere, .energy = *energy});
  } else {
    taken_.gpus.front().energy = in_turn(taken_.gpus.front().energy, *energy);
  }
}

void ReportedInstruments::tell(std::vector<records::LimitProfile> limits) {
  require(!to_measure_.empty(), "limits were measured that were not requested", "see limits_to_measure() first");
  std::ranges::sort(limits, {}, &records::LimitProfile::limit);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const records::LimitProfile& one = limits[i];
    require(std::ranges::find(to_measure_, one.limit) != to_measure_.end(),
            "a limit was measured that was not requested", "measure those of limits_to_measure()");
    require(i == 0 || limits[i - 1].limit != one.limit, "a limit was measured twice", "give each once");
    require(is_some(one.epoch_time) && is_some(one.average_power),
            "the time or power of an epoch is not a number above 0", "leave out limits that were not measured");
    require(is_doubt(one.epoch_time_uncertainty.value_or(Seconds{}).value()) &&
                is_doubt(one.average_power_uncertainty.value_or(Watts{}).value()),
            "an uncertainty is not a number from 0", "leave it out if it is unknown");
  }
  measured_ = reference_.scale(std::move(limits));
  to_measure_.clear();
}

}  // namespace zeus::job_library
