#include "drivers/nvml/catalogue.hpp"

#include <algorithm>
#include <array>

namespace zeus::drivers::nvml {

namespace {

constexpr unsigned brand_tesla = 2;
constexpr unsigned brand_quadro_rtx = 12;
constexpr unsigned brand_nvidia = 14;
constexpr unsigned pascal = 4;
constexpr unsigned volta = 5;
constexpr unsigned turing = 6;
constexpr unsigned ampere = 7;
constexpr unsigned hopper = 9;

constexpr std::array cards{
    Card{"P100", 0x15f8, brand_tesla, pascal, 6, 0, 3584, 4096, 3},
    Card{"V100", 0x1db6, brand_tesla, volta, 7, 0, 5120, 4096, 3},
    Card{"RTX6000", 0x1e30, brand_quadro_rtx, turing, 7, 5, 4608, 384, 3},
    Card{"A40", 0x2235, brand_nvidia, ampere, 8, 6, 10752, 384, 4},
    Card{"A100", 0x20b2, brand_nvidia, ampere, 8, 0, 6912, 5120, 4},
    Card{"H100", 0x2330, brand_nvidia, hopper, 9, 0, 16896, 5120, 5},
    Card{"H200", 0x2335, brand_nvidia, hopper, 9, 0, 16896, 6144, 5},
};
constexpr Card unknown{"", 0, brand_nvidia, volta, 7, 0, 0, 0, 3};

}  // namespace

const Card& card(const physics::GpuModel& model) {
  const auto* const found = std::ranges::find(cards, model.name(), &Card::model);
  return found == cards.end() ? unknown : *found;
}

}  // namespace zeus::drivers::nvml
