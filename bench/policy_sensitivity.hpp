// The constants of policy `lookahead`, each by name, for the table that halves and doubles them. Constants.
#pragma once

#include "optimize/batch_size/lookahead_tuning.hpp"

#include <span>
#include <string_view>

namespace zeus::bench {

struct TunedConstant {
  std::string_view name;
  void (*multiply)(optimize::LookaheadTuning& tuning, double factor);
};
std::span<const TunedConstant> tuned_constants();

}  // namespace zeus::bench
