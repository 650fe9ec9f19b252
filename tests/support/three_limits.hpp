// Three power limits of a GPU, each of which is the best for some goal: for tests of what chooses among limits.
#pragma once

#include "records/limit_profile.hpp"

#include <array>

namespace zeus::test {

// Energies of an epoch: 1800, 1560 and 2000 J.
inline const std::array<records::LimitProfile, 3> three_limits = {
    {{100_W, 20_s, 90_W}, {150_W, 12_s, 130_W}, {250_W, 10_s, 200_W}}};

}  // namespace zeus::test
