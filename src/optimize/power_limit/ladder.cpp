#include "optimize/power_limit/ladder.hpp"

#include <algorithm>

namespace zeus::optimize {

namespace {

std::optional<std::size_t> measured_before(std::span<const Rung> rungs, std::size_t index) {
  while (index-- > 0) {
    if (rungs[index].step) {
      return index;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> measured_after(std::span<const Rung> rungs, std::size_t index) {
  while (++index < rungs.size()) {
    if (rungs[index].step) {
      return index;
    }
  }
  return std::nullopt;
}

// A limit that holds nothing back has no slope to extrapolate, nor has an unknown clock.
bool shapes(Knob knob, const Rung& rung) {
  return knob == Knob::clock ? rung.height > 0.0 : rung.capped;
}

// The time at `height` on the line through two measured rungs. A convex curve lies above this line beyond both of them.
double time_along(const Rung& near, const Rung& far, double height) {
  const double time = near.step->epoch_time.value();
  return time + (far.step->epoch_time.value() - time) / (far.height - near.height) * (height - near.height);
}

double least_time(Knob knob, std::span<const Rung> rungs, std::size_t index, std::size_t above,
                  std::optional<std::size_t> below) {
  const double height = rungs[index].height;
  double least = rungs[above].step->epoch_time.value();
  if (shapes(knob, rungs[above])) {
    const auto further = measured_before(rungs, above);
    if (further && rungs[*further].height > 0.0) {
      least = std::max(least, time_along(rungs[above], rungs[*further], height));
    }
  }
  if (below && shapes(knob, rungs[*below])) {
    if (const auto further = measured_after(rungs, *below)) {
      least = std::max(least, time_along(rungs[*below], rungs[*further], height));
    }
  }
  return least;
}

double least_power(Knob knob, std::span<const Rung> rungs, std::size_t index, std::size_t above,
                   std::optional<std::size_t> below) {
  double least = below ? rungs[*below].step->average_power.value() : 0.0;
  if (rungs[above].height > 0.0) {
    const double part = rungs[index].height / rungs[above].height;
    least =
        std::max(least, rungs[above].step->average_power.value() * (knob == Knob::clock ? part * part * part : part));
  }
  return least;
}

}  // namespace

std::optional<records::LimitProfile> best_case(Knob knob, std::span<const Rung> rungs, std::size_t index) {
  const auto above = measured_before(rungs, index);
  if (!above) {
    return std::nullopt;
  }
  const auto below = measured_after(rungs, index);
  records::LimitProfile step = *rungs[*above].step;
  step.limit = rungs[index].limit;
  if (knob == Knob::limit && below && !rungs[*below].capped) {
    return step;
  }
  step.epoch_time = Seconds{least_time(knob, rungs, index, *above, below)};
  step.average_power = Watts{least_power(knob, rungs, index, *above, below)};
  return step;
}

}  // namespace zeus::optimize
