#include <zeus/fmt.hpp>

#include <gtest/gtest.h>

#include <locale>
#include <string>

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

struct GermanNumbers : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

TEST(Fmt, IsTheSameWhateverTheGlobalLocaleIs) {
  const std::locale before = std::locale::global(std::locale{std::locale::classic(), new GermanNumbers});
  const std::string setting = fmt::format("{}", PowerSetting{.limit = 1234.5_W, .clock = 1200_MHz});
  const std::string reading = fmt::format("{} and {}", Reading<Watts>{1234.5_W}, Reading<int>{1200});
  const std::string quantity = fmt::format("{} and {:.1f}", 1234.5_W, 1234.5_J);
  const std::string energy = fmt::format("{}", Energy{.value = 1234.5_J, .uncertainty = 0.41_J, .systematic = {}});
  std::locale::global(before);
  EXPECT_EQ(setting, "1234.5 W at 1200 MHz");
  EXPECT_EQ(reading, "1234.5 W and 1200");
  EXPECT_EQ(quantity, "1234.5 W and 1234.5 J");
  EXPECT_EQ(energy, "1,234.50 ± 0.41 J");
}

}  // namespace
}  // namespace zeus
