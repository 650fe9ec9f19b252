#include <zeus/fmt.hpp>

#include <gtest/gtest.h>

namespace zeus {
namespace {

TEST(Fmt, AQuantityTakesTheFormatOfANumber) {
  EXPECT_EQ(fmt::format("{:.1f} and {}", 200_W, 36.5_degC), "200.0 W and 36.5 °C");
  EXPECT_EQ(fmt::format("{:>6.2f}", 1.5_ms), "  1.50 ms");
}

TEST(Fmt, WhatHasNoNumberIsPrintedAsByAStream) {
  const Energy energy{.value = 63.04_J, .uncertainty = 0.41_J, .systematic = {}};
  EXPECT_EQ(fmt::format("{}", energy), "63.04 ± 0.41 J");
  EXPECT_EQ(fmt::format("{}", MeasuredEnergy{.energy = energy, .reason = {}, .remark = {}}), "63.04 ± 0.41 J");
  EXPECT_EQ(fmt::format("{}", MeasuredEnergy{.energy = {}, .reason = "no GPU is measured", .remark = {}}),
            "unknown (no GPU is measured)");
  EXPECT_EQ(fmt::format("{}", PowerSetting{.limit = 200_W, .clock = {}}), "200 W");
  EXPECT_EQ(fmt::format("{}", PowerSetting{.limit = 200_W, .clock = 1200_MHz}), "200 W at 1200 MHz");
  EXPECT_EQ(fmt::format("{}", Reading<Watts>{200_W}), "200 W");
  EXPECT_EQ(fmt::format("{}", Reading<Watts>{Reason::permission}), "unknown (not permitted)");
}

}  // namespace
}  // namespace zeus
