#include "demo/counter_meter.hpp"

#include <zeus/error.hpp>
#include <zeus/reading.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace zeus::demo {

namespace {

// At either edge the counter's value is up to one period old: the error is triangular, and 95 % of it lie within this
// fraction of a period's energy.
constexpr double within = 0.776;

}  // namespace

CounterMeter::CounterMeter(std::shared_ptr<const device::Gpu> gpu, Seconds period, const Clock& clock)
    : gpu_{std::move(gpu)}, period_{period}, clock_{clock} {
}

CounterMeter::Mark CounterMeter::mark() const {
  const auto reading = gpu_->energy();
  if (!reading) {
    throw Error{ErrorKind::unavailable,
                fmt::format("the GPU's energy counter cannot be read: {}", to_string(reading.failure())),
                "check the GPU with `zeus doctor`"};
  }
  return {.at = clock_.now(), .counter = reading->value};
}

Energy CounterMeter::between(const Mark& from, const Mark& to) const {
  const Joules value = to.counter - from.counter;
  const Seconds time = to.at - from.at;
  const Seconds doubt = std::min(period_, time) * within;
  return {.value = value,
          .uncertainty = time > Seconds{} ? value / time * doubt : Joules{},
          .systematic = std::nullopt,
          .method = EnergyMethod::counter};
}

void CounterMeter::begin(std::string_view window) {
  open_[std::string{window}] = mark();
}

Measurement CounterMeter::end(std::string_view window) {
  const auto found = open_.find(window);
  if (found == open_.end()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no window '{}'", window), "begin it first"};
  }
  const Mark from = found->second;
  open_.erase(found);
  const Mark to = mark();
  Measurement measurement;
  measurement.window = window;
  measurement.start = from.at - Instant{};
  measurement.end = to.at - Instant{};
  measurement.gpu_energy[0].energy = between(from, to);
  measurement.settled = true;
  return measurement;
}

Measurement CounterMeter::settle(const Measurement& measurement, Seconds /*patience*/) {
  return measurement;
}

void CounterMeter::cancel(std::string_view window) {
  const auto found = open_.find(window);
  if (found != open_.end()) {
    open_.erase(found);
  }
}

}  // namespace zeus::demo
