// What EpochBelief assumes before it has seen a run: a grid of the unknown quantities, in octaves of batch size and
// natural logarithms of epochs. `policy_tables sensitivity` measures the effect of halving and doubling each. Plain
// values.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

namespace zeus::optimize {

struct EpochPrior {
  // Up to a critical batch size the epochs hardly change; beyond it they grow in proportion (McCandlish et al., "An
  // empirical model of large-batch training"). These are its possible positions, in octaves from the default. A
  // position beyond either end means that epochs grow over the whole range, or not at all.
  std::array<double, 6> critical_places{-8.0, -4.0, 0.0, 4.0, 8.0, 16.0};
  std::array<double, 2> lengths{2.0, 6.0};
  std::array<double, 3> spreads{0.1, 0.3, 1.0};
  std::array<double, 3> noises{0.04, 0.12, 0.36};
  // The probability that the runs of an arm scatter differently from those of most arms.
  double odd_noise = 0.1;
  // A weak trend in addition, in nats per octave.
  double trend_spread = 0.1;
  // Keeps a batch size from determining its neighbour completely, however smooth the curve.
  double roughness = 0.1;
  double roughness_length = 0.7;
  // A wide prior: the number of epochs that the job needs is practically unknown.
  double level_mean = 2.3;
  double level_spread = 3.0;
  // Epochs are whole numbers, so the curve has steps. This share of the variance of rounding stays with the arm.
  double rounding_share = 0.5;
};

inline constexpr std::size_t noise_levels = std::tuple_size_v<decltype(EpochPrior::noises)>;

}  // namespace zeus::optimize
