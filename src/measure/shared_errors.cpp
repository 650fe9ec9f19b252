#include "measure/shared_errors.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

// The interval of one settled window allows for cells whose load was judged wrongly. Over several GPUs this averages
// out (measured by bench/measure_accuracy: twice the variance of the errors, under loads that step at any time).
constexpr double settled_stray_of_many = 0.85;

// The correlation of the errors of two ticks. Brackets that overlap are taken for those of ticks that came together,
// somewhere in both. Brackets of the same readings then have one error. If the counters were read at different times,
// the correlation is above 0 in some windows and below it in others.
double same_tick(const TickError& a, const TickError& b) {
  const Seconds b_later = b.middle - a.middle;
  const Seconds earliest = std::max(a.bracket * -0.5, b_later - b.bracket * 0.5);  // from the middle of a's bracket
  const Seconds latest = std::min(a.bracket * 0.5, b_later + b.bracket * 0.5);
  if (latest <= earliest) {
    return 0.0;
  }
  const Seconds middle = (earliest + latest) * 0.5;
  return (square(latest - earliest) + middle * (middle - b_later) * 12.0) / (a.bracket * b.bracket);
}

// The correlation of the strays of two GPUs with one load: each strays from a line between two ticks of its own, as a
// random walk would between two moments at which it is known. Predictions stray from their ticks on, and alike.
double same_stretch(const Stray& a, const Stray& b) {
  const auto varied = a.before * a.after * (a.before + a.after) * (b.before * b.after * (b.before + b.after));
  if (varied.value() <= 0) {
    return 1.0;
  }
  const auto common =
      a.after * b.after * std::min(a.before, b.before) + a.before * b.before * std::min(a.after, b.after);
  return common.value() / std::sqrt(varied.value());
}

// How much of the products of deviations is covariance.
struct Together {
  double covariance = 0;
  double product = 0;

  [[nodiscard]] double share(double otherwise) const {
    return product > 0 ? std::clamp(covariance / product, 0.0, 1.0) : otherwise;
  }
};

void add_ticks(const EnergyBetween& a, const EnergyBetween& b, Together& ticks) {
  double of_a = 0;
  double of_b = 0;
  for (const TickError& one : a.ticks) {
    of_a += square(one.range.value());
    of_b = 0;
    for (const TickError& other : b.ticks) {
      of_b += square(other.range.value());
      ticks.covariance += one.range.value() * other.range.value() * same_tick(one, other);
    }
  }
  ticks.product += std::sqrt(of_a * of_b);
}

void add_strays(const InWindow& a, const InWindow& b, Together& load) {
  const double together = in_step(a.load, b.load);
  JoulesSquared of_a;
  JoulesSquared of_b;
  for (std::size_t i = 0; i < a.energy.strays.size(); ++i) {
    const Stray& one = a.energy.strays[i];
    const Stray& other = b.energy.strays[i];
    of_a += one.variance;
    of_b += other.variance;
    load.covariance += together * same_stretch(one, other) * std::sqrt((one.variance * other.variance).value());
  }
  load.product += std::sqrt((of_a * of_b).value());
}

}  // namespace

SharedErrors shared_errors(std::span<const InWindow> gpus) {
  Together ticks;
  Together load;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      add_ticks(gpus[i].energy, gpus[j].energy, ticks);
      add_strays(gpus[i], gpus[j], load);
    }
  }
  return {.of_ticks = ticks.share(0.0), .of_load = load.share(1.0)};
}

void set_parts(Energy& energy, const InWindow& gpu, const SharedErrors& shared) {
  const JoulesSquared whole = square(gpu.energy.half_width);
  if (whole <= JoulesSquared{}) {
    return;
  }
  const double ticks = std::min(1.0, square(gpu.energy.of_ticks) / whole);
  const double load = 1.0 - ticks;
  const double of_load = gpu.load.cell_ns > 0 ? shared.of_load : 1.0;
  const double of_many = gpu.energy.settled ? square(settled_stray_of_many) : 1.0;
  energy.own = std::sqrt(ticks * (1.0 - shared.of_ticks) + load * (1.0 - of_load) * of_many);
  energy.shared = std::sqrt(ticks * shared.of_ticks + load * of_load);
}

}  // namespace zeus::measure
