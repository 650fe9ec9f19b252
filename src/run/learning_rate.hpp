// The learning rate for a batch size, scaled from the batch size for which it is known. A plain value.
#pragma once

#include <zeus/fields.hpp>

#include <array>
#include <string>
#include <string_view>

namespace zeus::run {

enum class RateScaling {
  linear,       // with the batch size, as for plain gradient descent
  square_root,  // with its square root, as for Adam and its variants
};

constexpr auto names_of(RateScaling /*scaling*/) {
  return std::array<field::Name<RateScaling>, 2>{{{RateScaling::linear, "linear"}, {RateScaling::square_root, "sqrt"}}};
}

struct LearningRate {
  int batch_size = 0;
  double rate = 0.0;
  RateScaling scaling = RateScaling::linear;

  [[nodiscard]] double at(int other_batch_size) const;
};

// Reads "B:LR", as in 128:0.1; throws an invalid_argument Error for anything else.
LearningRate parse_learning_rate(std::string_view text, RateScaling scaling);

// "128:0.1 linear".
std::string to_text(const LearningRate& rate);

}  // namespace zeus::run
