#include "bench/policy_sensitivity.hpp"

#include <array>

namespace zeus::bench {

namespace {

using optimize::LookaheadTuning;

template <auto Member>
void multiply_own(LookaheadTuning& tuning, double factor) {
  tuning.*Member *= factor;
}

template <auto Member>
void multiply_prior(LookaheadTuning& tuning, double factor) {
  tuning.epochs.*Member *= factor;
}

template <auto Member>
void multiply_change(LookaheadTuning& tuning, double factor) {
  tuning.change.*Member *= factor;
}

template <auto Member>
void multiply_all(LookaheadTuning& tuning, double factor) {
  for (double& value : tuning.epochs.*Member) {
    value *= factor;
  }
}

using optimize::ChangeDetector;
using optimize::EpochPrior;

constexpr std::array constants = {
    TunedConstant{"least_horizon", multiply_own<&LookaheadTuning::least_horizon>},
    TunedConstant{"cost_per_octave_up", multiply_own<&LookaheadTuning::cost_per_octave_up>},
    TunedConstant{"cost_per_octave_down", multiply_own<&LookaheadTuning::cost_per_octave_down>},
    TunedConstant{"cost_spread", multiply_own<&LookaheadTuning::cost_spread>},
    TunedConstant{"limit_spread", multiply_own<&LookaheadTuning::limit_spread>},
    TunedConstant{"least_improvement", multiply_own<&LookaheadTuning::least_improvement>},
    TunedConstant{"profiling_epoch", multiply_own<&LookaheadTuning::profiling_epoch>},
    TunedConstant{"limits_gain", multiply_own<&LookaheadTuning::limits_gain>},
    TunedConstant{"curiosity", multiply_own<&LookaheadTuning::curiosity>},
    TunedConstant{"least_look", multiply_own<&LookaheadTuning::least_look>},
    TunedConstant{"news", multiply_own<&LookaheadTuning::news>},
    TunedConstant{"change.distance", multiply_change<&ChangeDetector::Tuning::distance>},
    TunedConstant{"change.odd", multiply_change<&ChangeDetector::Tuning::odd>},
    TunedConstant{"change.alarm", multiply_change<&ChangeDetector::Tuning::alarm>},
    TunedConstant{"epochs.critical_places", multiply_all<&EpochPrior::critical_places>},
    TunedConstant{"epochs.lengths", multiply_all<&EpochPrior::lengths>},
    TunedConstant{"epochs.spreads", multiply_all<&EpochPrior::spreads>},
    TunedConstant{"epochs.noises", multiply_all<&EpochPrior::noises>},
    TunedConstant{"epochs.odd_noise", multiply_prior<&EpochPrior::odd_noise>},
    TunedConstant{"epochs.trend_spread", multiply_prior<&EpochPrior::trend_spread>},
    TunedConstant{"epochs.roughness", multiply_prior<&EpochPrior::roughness>},
    TunedConstant{"epochs.roughness_length", multiply_prior<&EpochPrior::roughness_length>},
    TunedConstant{"epochs.level_mean", multiply_prior<&EpochPrior::level_mean>},
    TunedConstant{"epochs.level_spread", multiply_prior<&EpochPrior::level_spread>},
    TunedConstant{"epochs.rounding_share", multiply_prior<&EpochPrior::rounding_share>},
};

}  // namespace

std::span<const TunedConstant> tuned_constants() {
  return constants;
}

}  // namespace zeus::bench
