#include "optimize/power_limit/choice.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace zeus::optimize {
namespace {

SliceReading reading() {
  return {.time = 20_s,
          .time_uncertainty = 1_s,
          .energy = {.value = 3000_J, .uncertainty = 50_J, .systematic = 100_J},
          .capped = 0.25};
}

// 40 steps in 20 s with 3,000 J: half a second and 75 J each, with the uncertainties divided in the same way.
TEST(Choice, AMeasurementIsTheMeanStepOfItsSlice) {
  Slice slice{.setting = {.limit = 200_W, .clock = std::nullopt}, .measure = 40, .begin = 7, .reading = reading()};
  const records::PowerMeasurement found = measurement_of(slice);
  EXPECT_EQ(found.setting, slice.setting);
  EXPECT_EQ(found.steps, 40U);
  EXPECT_EQ(found.step_time, 0.5_s);
  EXPECT_EQ(found.step_time_uncertainty, 0.025_s);
  EXPECT_EQ(found.step_energy.value, 75_J);
  EXPECT_EQ(found.step_energy.uncertainty, 1.25_J);
  EXPECT_EQ(found.step_energy.systematic, 2.5_J);
  EXPECT_EQ(found.capped, 0.25);
  slice.reading.energy.systematic.reset();
  slice.reading.capped.reset();
  EXPECT_FALSE(measurement_of(slice).step_energy.systematic);
  EXPECT_FALSE(measurement_of(slice).capped);
}

// Steps of 100 J in 1 s, 80 J in 2 s and 90 J in 1.5 s: the first is the fastest, the second uses the least energy, and
// the selector that weighs energy at 95 % takes the last.
TEST(Choice, IsTheSelectorsChoiceByStepTimeAndEnergy) {
  const auto measured = [](Watts limit, Seconds time, Joules energy) {
    return records::PowerMeasurement{.setting = {.limit = limit, .clock = std::nullopt},
                                     .steps = 10,
                                     .step_time = time,
                                     .step_time_uncertainty = {},
                                     .step_energy = {.value = energy},
                                     .capped = {}};
  };
  const std::vector<records::PowerMeasurement> measurements = {measured(300_W, 1_s, 100_J), measured(100_W, 2_s, 80_J),
                                                               measured(200_W, 1.5_s, 90_J)};
  EXPECT_EQ(choose(select_time(), measurements)->limit, 300_W);
  EXPECT_EQ(choose(select_energy(), measurements)->limit, 100_W);
  EXPECT_EQ(choose(select_max_slowdown(1.5), measurements)->limit, 200_W);
  EXPECT_FALSE(choose(select_time(), {}));
}

TEST(Choice, RefusesImpossibleReadings) {
  const records::PowerSetting setting{.limit = 200_W, .clock = std::nullopt};
  const auto refuses = [&setting](auto change) {
    SliceReading changed = reading();
    change(changed);
    try {
      check(changed, setting);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refuses([](SliceReading&) {}));
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(refuses([bad](SliceReading& r) { r.time = Seconds{bad}; })) << bad;
    EXPECT_TRUE(refuses([bad](SliceReading& r) { r.time_uncertainty = Seconds{bad}; })) << bad;
    EXPECT_TRUE(refuses([bad](SliceReading& r) { r.energy.value = Joules{bad}; })) << bad;
    EXPECT_TRUE(refuses([bad](SliceReading& r) { r.energy.uncertainty = Joules{bad}; })) << bad;
    EXPECT_TRUE(refuses([bad](SliceReading& r) { r.capped = bad; })) << bad;
  }
  EXPECT_TRUE(refuses([](SliceReading& r) { r.time = 0_s; }));
  EXPECT_TRUE(refuses([](SliceReading& r) { r.energy.value = 0_J; }));
  EXPECT_TRUE(refuses([](SliceReading& r) { r.capped = 1.01; }));
  EXPECT_FALSE(refuses([](SliceReading& r) { r.time_uncertainty = 0_s; }));
  EXPECT_FALSE(refuses([](SliceReading& r) { r.energy.uncertainty = 0_J; }));
  EXPECT_FALSE(refuses([](SliceReading& r) { r.capped = 0.0; }));
  EXPECT_FALSE(refuses([](SliceReading& r) { r.capped = 1.0; }));
  EXPECT_FALSE(refuses([](SliceReading& r) { r.capped.reset(); }));
}

}  // namespace
}  // namespace zeus::optimize
