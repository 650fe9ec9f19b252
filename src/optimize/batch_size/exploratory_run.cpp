#include "optimize/batch_size/exploratory_run.hpp"

#include "base/portable_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace zeus::optimize {

namespace {

// The epoch at which to stop a run is searched on a grid of at most this many steps.
constexpr int most_steps = 32;

// The value of knowing the expected cost of an arm's run, in units of the fallback. If the cost is below the fallback,
// all later runs use the arm. Otherwise a second run may be worthwhile: it may move the logarithm of the expected cost,
// by a standard deviation of `deviation`, below the fallback.
double worth(double log_ratio, double deviation, double horizon) {
  const double ratio = portable::exp(log_ratio);
  const double gain = horizon * std::max(0.0, 1.0 - ratio);
  constexpr double certain = 6.0;  // standard deviations
  if (std::fabs(log_ratio) > certain * deviation) {
    return gain;
  }
  const double z = -log_ratio / deviation;
  const double hope = portable::normal_cdf(z + 0.5 * deviation) - ratio * portable::normal_cdf(z - 0.5 * deviation);
  return std::max(gain, horizon * hope - std::max(0.0, ratio - 1.0));
}

// Logarithms of half integers; small ones come from a table.
double log_of_halves(int halves) {
  static const std::vector<double> table = [] {
    std::vector<double> logs(512);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      logs[i] = portable::log(0.5 * static_cast<double>(i));
    }
    return logs;
  }();
  const auto index = static_cast<std::size_t>(halves);
  return index < table.size() ? table[index] : portable::log(0.5 * halves);
}

}  // namespace

double wasted_epochs(double reached, double missed, double mean, double variance, int allowed) {
  const double beyond = portable::normal_cdf((mean - log_of_halves(2 * allowed + 1)) / std::sqrt(variance));
  return (missed + beyond) / (reached + 1.0 - beyond) * allowed;
}

ExploratoryValue value_of(const ExploratoryRun& run, const EpochBelief& belief) {
  const double mean = belief.mean(run.arm);
  const double variance = belief.variance(run.arm);
  const double noise = belief.noise(run.arm);
  const double share = variance / (variance + noise);
  const double log_ratio = portable::log(run.epoch_cost / run.fallback);
  // How far a second run would move the mean.
  const double left = variance * (1.0 - share);
  const double second = left / std::sqrt(left + noise);
  const double rest = 0.5 * (left + noise);
  const int stride = (run.most_epochs + most_steps - 1) / most_steps;
  const int steps = stride == 0 ? 0 : run.most_epochs / stride;
  if (steps == 0) {
    return {.value = -run.fallback, .max_epochs = 0};
  }
  std::array<double, most_steps + 1> alive;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before read
  for (int step = 0; step <= steps; ++step) {
    alive[static_cast<std::size_t>(step)] = belief.survival(run.arm, log_of_halves(2 * step * stride + 1));
  }
  const double given_up = run.fallback + run.start;
  double go_on = given_up;
  int stop = steps;
  for (int step = steps; step-- > 0;) {
    const double now = alive[static_cast<std::size_t>(step)];
    constexpr double unthinkable = 1e-300;
    const double ends = now > unthinkable ? 1.0 - alive[static_cast<std::size_t>(step) + 1] / now : 0.0;
    const double log_epochs = log_of_halves((2 * step + 1) * stride + 1);
    const double learned = std::max(mean + share * (log_epochs - mean) + rest, 0.0);
    const double wasted =
        wasted_epochs(run.reached + 1.0, run.missed, learned - rest, left + noise, run.allowed_epochs);
    const double repeated = portable::log(portable::exp(learned) + wasted);
    const double gain = run.fallback * worth(repeated + log_ratio, second, run.horizon);
    const double value = run.epoch_cost * stride - ends * gain + (1.0 - ends) * go_on;
    if (value < given_up || step == 0) {
      go_on = value;
    } else {
      go_on = given_up;
      stop = step;
    }
  }
  return {.value = run.fallback - go_on, .max_epochs = stop * stride};
}

double possible_improvement(const EpochBelief& belief, std::size_t arm, double log_cost, double fallback) {
  const double variance = belief.variance(arm);
  const double deviation = std::sqrt(variance);
  const double centre = log_cost + belief.mean(arm) + 0.5 * belief.noise(arm);
  const double d = (portable::log(fallback) - centre) / deviation;
  return fallback * portable::normal_cdf(d) -
         portable::exp(centre + 0.5 * variance) * portable::normal_cdf(d - deviation);
}

}  // namespace zeus::optimize
