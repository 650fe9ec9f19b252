// What EpochBelief takes for granted before it has seen a run: a grid of what is not known, in octaves of batch size
// and natural logarithms of epochs. `policy_tables sensitivity` measures what halving and doubling each of these does.
// Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

namespace zeus::optimize {

struct EpochPrior {
  // Up to a critical batch size the epochs hardly change, beyond it they grow in proportion (McCandlish et al., "An
  // empirical model of large-batch training"); where it lies, in octaves from the default, is unknown. It may be beyond
  // either end: epochs may grow all the way, or nowhere.
  std::array<double, 6> critical_places{-8.0, -4.0, 0.0, 4.0, 8.0, 16.0};
  std::array<double, 2> lengths{2.0, 6.0};
  std::array<double, 3> spreads{0.1, 0.3, 1.0};
  std::array<double, 3> noises{0.04, 0.12, 0.36};
  // The probability that an arm's runs scatter otherwise than most arms' do.
  double odd_noise = 0.1;
  // A weak trend on top of that, in nats per octave.
  double trend_spread = 0.1;
  // No curve is so smooth that one batch size tells all of its neighbour.
  double roughness = 0.1;
  double roughness_length = 0.7;
  // How many epochs the job needs at all is as good as unknown.
  double level_mean = 2.3;
  double level_spread = 3.0;
  // Epochs are whole numbers, so that the curve has steps; this share of the variance of rounding stays with the arm.
  double rounding_share = 0.5;
};

inline constexpr std::size_t noise_levels = std::tuple_size_v<decltype(EpochPrior::noises)>;

}  // namespace zeus::optimize
