#include "backends/amdsmi/counter_check.hpp"

namespace zeus::backends::amdsmi {

namespace {

// One count is 15.3 microjoules wherever the documentation gives a figure.
constexpr Joules least_resolution{1e-6};
constexpr Joules greatest_resolution{1e-3};
constexpr double tolerated_ratio = 10;

}  // namespace

std::optional<Failure> judge_counter(const CounterObservation& seen) {
  if (!(seen.resolution >= least_resolution && seen.resolution <= greatest_resolution)) {
    return Failure{Reason::unreliable, "the energy counter reports an impossible unit"};
  }
  if (!seen.power || *seen.power <= Watts{0}) {
    return Failure{Reason::unreliable,
                   "the power sensor shows no value to check the energy counter by, as on a module's second die"};
  }
  const Joules counted = seen.last - seen.first;
  if (counted < Joules{0}) {
    return Failure{Reason::unreliable, "the energy counter runs backwards"};
  }
  if (counted == Joules{0}) {
    return Failure{Reason::unreliable, "the energy counter stands still"};
  }
  const Joules expected = *seen.power * seen.time;
  if (counted > expected * tolerated_ratio || counted * tolerated_ratio < expected) {
    return Failure{Reason::unreliable, "the energy counter and the power sensor disagree more than tenfold"};
  }
  return std::nullopt;
}

}  // namespace zeus::backends::amdsmi
