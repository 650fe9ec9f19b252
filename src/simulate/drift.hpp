// Data that drifts: from some recurrence on, each batch size needs another number of epochs. A pure function of its
// arguments.
#pragma once

#include "simulate/workload.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace zeus::simulate {

// Epochs are multiplied by exp(tilt x + curve x^2), x being octaves of batch size above the default one.
struct Drift {
  std::uint64_t from_recurrence = 40;
  double tilt = 0.0;
  double curve = 0.0;
};

// "at=40,tilt=0.3,curve=0.02", or "at=40,random": a drift that `random_drift` draws by the seed. Anything else is an
// invalid_argument Error that states the format.
Drift parse_drift(std::string_view text, const Workload& workload, double eta, std::uint64_t seed);

Workload drifted(const Workload& workload, const Drift& drift);

// A drift that moves the best batch size by two octaves or more, so that the old one costs a fifth more than the best
// or worse; nothing if 10 000 draws find none.
std::optional<Drift> random_drift(const Workload& workload, double eta, std::uint64_t from_recurrence,
                                  std::uint64_t seed);

}  // namespace zeus::simulate
