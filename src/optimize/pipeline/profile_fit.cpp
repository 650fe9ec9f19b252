#include "optimize/pipeline/profile_fit.hpp"

#include "base/portable_math.hpp"
#include "optimize/pipeline/trade_off.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace zeus::optimize::pipeline {

namespace {

constexpr std::array fits{ProfileFit::none, ProfileFit::smooth, ProfileFit::exponential};
constexpr std::size_t fewest_clocks = 5;
constexpr std::size_t most_terms = 5;

// The powers of the clock x (a share of the highest) that a curve may use. Time is work that the clock speeds up plus
// work that it does not. Energy is that time multiplied by a power that grows faster than the clock.
constexpr std::array time_powers{0, -1, -2};
constexpr std::array energy_powers{0, 1, -1, 2, 3};

struct Sample {
  double x;
  double value;
};

double power_of(double x, int exponent) {
  double result = 1.0;
  for (int i = 0; i < std::abs(exponent); ++i) {
    result *= x;
  }
  return exponent < 0 ? 1.0 / result : result;
}

using Terms = std::array<double, most_terms>;

// The curve through samples of equal relative error: least squares of sum(c_k x^p_k) / value against 1.
class Curve {
 public:
  Curve(std::span<const Sample> samples, std::span<const int> powers) : powers_{powers} {
    std::array<Terms, most_terms> normal{};
    for (const Sample& sample : samples) {
      const Terms row = row_of(sample);
      for (std::size_t i = 0; i < powers_.size(); ++i) {
        for (std::size_t j = 0; j < powers_.size(); ++j) {
          normal[i][j] += row[i] * row[j];
        }
      }
    }
    sound_ = invert(normal);
    for (const Sample& sample : samples) {
      const Terms row = row_of(sample);
      for (std::size_t i = 0; i < powers_.size(); ++i) {
        for (std::size_t j = 0; j < powers_.size(); ++j) {
          coefficients_[i] += inverse_[i][j] * row[j];
        }
      }
    }
  }

  [[nodiscard]] double at(double x) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < powers_.size(); ++k) {
      sum += coefficients_[k] * power_of(x, powers_[k]);
    }
    return sum;
  }

  // The sum of squared errors of the samples, each predicted by a fit without it: small for a curve with as many terms
  // as the samples support and no more.
  [[nodiscard]] double error_left_out(std::span<const Sample> samples) const {
    double sum = 0.0;
    for (const Sample& sample : samples) {
      const Terms row = row_of(sample);
      double leverage = 0.0;
      for (std::size_t i = 0; i < powers_.size(); ++i) {
        for (std::size_t j = 0; j < powers_.size(); ++j) {
          leverage += row[i] * inverse_[i][j] * row[j];
        }
      }
      const double miss = (at(sample.x) / sample.value - 1.0) / (1.0 - leverage);
      sum += miss * miss;
    }
    return sound_ && std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
  }

 private:
  [[nodiscard]] Terms row_of(const Sample& sample) const {
    Terms row{};
    for (std::size_t k = 0; k < powers_.size(); ++k) {
      row[k] = power_of(sample.x, powers_[k]) / sample.value;
    }
    return row;
  }

  // Gauss-Jordan elimination with pivots from the diagonal, which suffices for a positive definite matrix.
  bool invert(std::array<Terms, most_terms> matrix) {
    const std::size_t count = powers_.size();
    for (std::size_t i = 0; i < count; ++i) {
      inverse_[i][i] = 1.0;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double pivot = matrix[i][i];
      if (!(pivot > 0.0)) {
        return false;
      }
      for (std::size_t j = 0; j < count; ++j) {
        matrix[i][j] /= pivot;
        inverse_[i][j] /= pivot;
      }
      for (std::size_t row = 0; row < count; ++row) {
        const double factor = matrix[row][i];
        for (std::size_t j = 0; j < count && row != i; ++j) {
          matrix[row][j] -= factor * matrix[i][j];
          inverse_[row][j] -= factor * inverse_[i][j];
        }
      }
    }
    return true;
  }

  std::span<const int> powers_;
  std::array<Terms, most_terms> inverse_{};
  Terms coefficients_{};
  bool sound_ = false;
};

// The number of terms, counted from the first, that best predicts samples left out of the fit.
Curve best_curve(std::span<const Sample> samples, std::span<const int> powers) {
  Curve best{samples, powers.first(2)};
  double least = best.error_left_out(samples);
  for (std::size_t terms = 3; terms <= powers.size() && terms + 2 <= samples.size(); ++terms) {
    const Curve curve{samples, powers.first(terms)};
    if (const double error = curve.error_left_out(samples); error < least) {
      least = error;
      best = curve;
    }
  }
  return best;
}

// Time and energy as functions of the clock. Where the power limit binds, the GPU does not reach a higher clock: from
// `saturation` on, all clocks are alike.
struct Model {
  double saturation = 1.0;
  Curve time;
  Curve energy;
  double error = 0.0;

  [[nodiscard]] double clock(double x) const { return std::min(x, saturation); }
};

Model model_with(double saturation, std::vector<Sample> times, std::vector<Sample> energies) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i].x = std::min(times[i].x, saturation);
    energies[i].x = times[i].x;
  }
  Model model{
      .saturation = saturation, .time = best_curve(times, time_powers), .energy = best_curve(energies, energy_powers)};
  model.error = model.time.error_left_out(times) + model.energy.error_left_out(energies);
  return model;
}

// The model with the highest saturation that the samples support. A saturation is one more parameter and has to justify
// itself (Akaike's criterion). Overlooking one only wastes energy, while assuming one wrongly wastes time. `lowest`
// leaves enough different clocks below it for a fit.
Model best_model(const std::vector<Sample>& times, const std::vector<Sample>& energies, double lowest) {
  constexpr int steps = 64;
  std::vector<Model> models{model_with(1.0, times, energies)};
  for (int i = 1; i <= steps; ++i) {
    models.push_back(model_with(1.0 - (1.0 - lowest) * i / steps, times, energies));
  }
  const double least = std::ranges::min_element(models, {}, &Model::error)->error;
  const double doubt = 1.0 + 2.0 / static_cast<double>(times.size());
  return *std::ranges::find_if(models, [&](const Model& model) { return model.error <= least * doubt; });
}

// The different clocks, lowest first; empty if a curve cannot pass through some point.
std::vector<Megahertz> clocks_of(std::span<const records::FrequencyOption> options) {
  std::vector<Megahertz> clocks;
  for (const records::FrequencyOption& option : options) {
    const bool sound = option.frequency > Megahertz{0} && option.time > Seconds{0} && option.energy > Joules{0};
    if (!sound) {
      return {};
    }
    clocks.push_back(option.frequency);
  }
  std::ranges::sort(clocks);
  const auto repeated = std::ranges::unique(clocks);
  clocks.erase(repeated.begin(), repeated.end());
  return clocks;
}

// Options go from the highest clock down: no time or energy may be negative, and no lower clock faster.
bool is_sensible(std::span<const records::FrequencyOption> options) {
  Seconds last{0};
  return std::ranges::all_of(options, [&](const records::FrequencyOption& option) {
    const bool sensible = option.time > Seconds{0} && option.energy > Joules{0} && option.time >= last;
    last = option.time;
    return sensible;
  });
}

void smooth(records::ComputationProfile& profile) {
  const std::vector<Megahertz> clocks = clocks_of(profile.options);
  if (clocks.size() < fewest_clocks) {
    return;
  }
  std::vector<records::FrequencyOption> options = profile.options;
  std::ranges::stable_sort(options, std::ranges::greater{}, &records::FrequencyOption::frequency);
  const Megahertz highest = options.front().frequency;
  std::vector<Sample> times;
  std::vector<Sample> energies;
  for (const records::FrequencyOption& option : options) {
    times.push_back({.x = option.frequency / highest, .value = option.time.value()});
    energies.push_back({.x = option.frequency / highest, .value = option.energy.value()});
  }
  const Model model = best_model(times, energies, clocks[fewest_clocks - 1] / highest);
  for (records::FrequencyOption& option : options) {
    const double x = model.clock(option.frequency / highest);
    option.time = Seconds{model.time.at(x)};
    option.energy = Joules{model.energy.at(x)};
  }
  const auto repeated = std::ranges::unique(options, {}, &records::FrequencyOption::frequency);
  options.erase(repeated.begin(), repeated.end());
  if (is_sensible(options)) {
    profile.options = std::move(options);
  }
}

struct Exponential {
  double scale = 0.0;
  double rate = 0.0;
  double floor = 0.0;
  double error = std::numeric_limits<double>::infinity();
};

// The best scale and floor for a rate: a straight line through cost against exp(rate * time).
Exponential fit_with_rate(std::span<const Knot> points, double rate) {
  double mean_x = 0.0;
  double mean_y = 0.0;
  const auto count = static_cast<double>(points.size());
  const auto x_of = [&](const Knot& point) { return portable::exp(rate * (point.time - points.front().time).value()); };
  for (const Knot& point : points) {
    mean_x += x_of(point) / count;
    mean_y += point.cost.value() / count;
  }
  double xx = 0.0;
  double xy = 0.0;
  for (const Knot& point : points) {
    xx += (x_of(point) - mean_x) * (x_of(point) - mean_x);
    xy += (x_of(point) - mean_x) * (point.cost.value() - mean_y);
  }
  Exponential fit{.scale = xy / xx, .rate = rate, .floor = 0.0, .error = 0.0};
  fit.floor = mean_y - fit.scale * mean_x;
  for (const Knot& point : points) {
    const double miss = fit.scale * x_of(point) + fit.floor - point.cost.value();
    fit.error += miss * miss;
  }
  return fit;
}

void fit_exponential(records::ComputationProfile& profile, Watts blocking_power) {
  constexpr int rates = 400;
  constexpr double slowest_rate = 0.05;  // times the range of the measured times: nearly a straight line
  constexpr double ratio = 1.02;
  std::vector<records::FrequencyOption> options = efficient_options(profile, blocking_power);
  if (options.size() < fewest_clocks) {
    return;
  }
  std::vector<Knot> points;
  for (const records::FrequencyOption& option : options) {
    points.push_back({.time = option.time, .cost = cost_of(option, blocking_power)});
  }
  const double range = (points.back().time - points.front().time).value();
  Exponential best;
  double rate = -slowest_rate / range;
  for (int i = 0; i < rates; ++i, rate *= ratio) {
    if (const Exponential fit = fit_with_rate(points, rate); fit.error < best.error) {
      best = fit;
    }
  }
  for (records::FrequencyOption& option : options) {
    const double cost =
        best.scale * portable::exp(best.rate * (option.time - points.front().time).value()) + best.floor;
    option.energy = Joules{cost} + blocking_power * option.time;
    if (!(option.energy > Joules{0})) {
      return;
    }
  }
  profile.options = std::move(options);
}

}  // namespace

std::string_view to_string(ProfileFit fit) {
  switch (fit) {
    case ProfileFit::none:
      return "none";
    case ProfileFit::smooth:
      return "smooth";
    case ProfileFit::exponential:
      return "exponential";
  }
  return "none";
}

std::optional<ProfileFit> profile_fit_from(std::string_view name) {
  const auto* const found = std::ranges::find(fits, name, [](ProfileFit fit) { return to_string(fit); });
  return found == fits.end() ? std::nullopt : std::optional{*found};
}

std::span<const ProfileFit> all_profile_fits() {
  return fits;
}

records::ComputationGraph with_fit(records::ComputationGraph graph, ProfileFit fit, Watts blocking_power) {
  for (records::ComputationProfile& profile : graph.profiles) {
    if (profile.options.empty()) {
      continue;  // the solver refuses it later
    }
    if (fit == ProfileFit::smooth) {
      smooth(profile);
    } else if (fit == ProfileFit::exponential) {
      fit_exponential(profile, blocking_power);
    }
  }
  return graph;
}

}  // namespace zeus::optimize::pipeline
