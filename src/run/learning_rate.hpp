// The learning rate that goes with a batch size, scaled from the one it is known for. A plain value.
#pragma once

#include <string_view>

namespace zeus::run {

enum class RateScaling {
  linear,       // with the batch size, as for plain gradient descent
  square_root,  // with its square root, as for Adam and its kin
};

struct LearningRate {
  int batch_size = 0;
  double rate = 0.0;
  RateScaling scaling = RateScaling::linear;

  [[nodiscard]] double at(int other_batch_size) const;
};

// "B:LR", as in 128:0.1. Anything else is an invalid_argument Error.
LearningRate parse_learning_rate(std::string_view text, RateScaling scaling);

}  // namespace zeus::run
