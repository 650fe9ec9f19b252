#include "records/power_profile.hpp"

#include "tests/support/golden.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::records {
namespace {

PowerMeasurement measurement(Watts limit, std::optional<Megahertz> clock, Seconds time, Joules energy) {
  return {.setting = {.limit = limit, .clock = clock},
          .steps = 20,
          .step_time = time,
          .step_time_uncertainty = time * 0.01,
          .step_energy = {.value = energy,
                          .uncertainty = energy * 0.02,
                          .systematic = std::nullopt,
                          .method = EnergyMethod::counter},
          .capped = std::nullopt};
}

PowerProfile sample() {
  PowerProfile profile{
      .gpu = "Tesla V100-PCIE-32GB", .gpus = 2, .batch_size = 64, .complete = true, .measurements = {}};
  profile.measurements = {measurement(250_W, std::nullopt, 0.5_s, 110_J),
                          measurement(200_W, std::nullopt, 0.55_s, 100_J), measurement(250_W, 1200_MHz, 0.6_s, 90_J)};
  profile.measurements[0].capped = 0.0;
  profile.measurements[1].capped = 0.75;
  profile.measurements[1].step_energy.systematic = 5_J;
  return profile;
}

TEST(PowerProfileJson, IsWhatTheGoldenFileSays) {
  test::expect_golden("records/power_profile.json", to_json(sample()) + "\n");
}

TEST(PowerProfileJson, ComesBackAsItWas) {
  EXPECT_EQ(power_profile_from_json(to_json(sample())), sample());
  EXPECT_EQ(power_profile_from_json(to_json(PowerProfile{})), PowerProfile{});
}

TEST(PowerProfileJson, RefusesWhatIsNotAProfile) {
  const std::string good = to_json(sample());
  const auto replaced = [&](const std::string& what, const std::string& by) {
    const std::size_t at = good.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return std::string{good}.replace(at, what.size(), by);
  };
  for (const std::string& text : {
           std::string{},
           std::string{"null"},
           std::string{"[]"},
           std::string{"{}"},
           good.substr(0, good.size() / 2),
           replaced("\"version\":1", "\"version\":2"),
           replaced("\"gpus\":2", "\"gpus\":0"),
           replaced("\"gpus\":2", "\"gpus\":-1"),
           replaced("\"gpus\":2", "\"gpus\":99999999999"),
           replaced("\"batch_size\":64", "\"batch_size\":6.5"),
           replaced("\"complete\":true", "\"complete\":1"),
           replaced("\"limit_w\":250.0", "\"limit_w\":0"),
           replaced("\"limit_w\":250.0", "\"limit_w\":1e999"),
           replaced("\"limit_w\":250.0", "\"limit_w\":\"250\""),
           replaced("\"limit_w\":250.0", "\"limit_w\":200.0"),
           replaced("\"steps\":20", "\"steps\":0"),
           replaced("\"step_time_s\":0.5", "\"step_time_s\":-0.5"),
           replaced("\"step_time_s\":0.5", "\"step_time_s\":null"),
           replaced("\"step_time_uncertainty_s\":0.005", "\"step_time_uncertainty_s\":-1"),
           replaced("\"value\":110.0", "\"value\":0.0"),
           replaced("\"capped\":0.75", "\"capped\":1.75"),
           replaced("\"clock_mhz\":1200.0", "\"clock_mhz\":-1"),
       }) {
    try {
      static_cast<void>(power_profile_from_json(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::corrupt_data) << text;
    }
  }
}

TEST(PowerProfileMerge, WeighsByCertaintyAndGainsSome) {
  const PowerProfile a{.gpu = "A", .measurements = {measurement(250_W, std::nullopt, 1_s, 100_J)}};
  PowerProfile b = a;
  b.measurements[0].step_time = 2_s;
  b.measurements[0].step_time_uncertainty = 0.03_s;  // against 0.01 s: weighs a ninth
  const PowerProfile both = merge(a, b);
  ASSERT_EQ(both.measurements.size(), 1U);
  EXPECT_NEAR(both.measurements[0].step_time.value(), 1.1, 1e-12);
  EXPECT_LT(both.measurements[0].step_time_uncertainty, 0.01_s);
  EXPECT_EQ(both.measurements[0].steps, 40U);
}

TEST(PowerProfileMerge, GivesTheSameEitherWayAndKeepsWhatOnlyOneKnows) {
  PowerProfile a = sample();
  PowerProfile b = sample();
  a.measurements.erase(a.measurements.begin() + 1);
  b.measurements.erase(b.measurements.begin());
  b.complete = false;
  const PowerProfile forward = merge(a, b);
  const PowerProfile backward = merge(b, a);
  ASSERT_EQ(forward.measurements.size(), 3U);
  EXPECT_TRUE(forward.complete);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(forward.measurements[i].setting, sample().measurements[i].setting);
    EXPECT_EQ(forward.measurements[i].setting, backward.measurements[i].setting);
    EXPECT_DOUBLE_EQ(forward.measurements[i].step_time.value(), backward.measurements[i].step_time.value());
    EXPECT_DOUBLE_EQ(forward.measurements[i].step_energy.value.value(),
                     backward.measurements[i].step_energy.value.value());
  }
}

TEST(PowerProfileMerge, RefusesProfilesOfDifferentThings) {
  const PowerProfile a = sample();
  for (const auto& change : std::initializer_list<void (*)(PowerProfile&)>{
           [](PowerProfile& p) { p.gpu = "other"; },
           [](PowerProfile& p) { p.gpus = 1; },
           [](PowerProfile& p) { p.batch_size = 32; },
           [](PowerProfile& p) { p.batch_size.reset(); },
       }) {
    PowerProfile b = a;  // NOLINT(misc-const-correctness): it is changed through a pointer to a function
    change(b);
    EXPECT_THROW(static_cast<void>(merge(a, b)), Error);
  }
}

}  // namespace
}  // namespace zeus::records
