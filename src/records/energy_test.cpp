#include "records/energy.hpp"

#include "base/random.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace zeus::records {
namespace {

const Energy measured{.value = 123.25_J, .uncertainty = 1.5_J, .systematic = 6_J, .method = EnergyMethod::counter};

// An energy whose error is its own except for this part.
Energy with_parts(Joules value, Joules uncertainty, double shared) {
  return {.value = value,
          .uncertainty = uncertainty,
          .systematic = 1_J,
          .method = EnergyMethod::counter,
          .own = std::sqrt(1.0 - shared * shared),
          .shared = shared};
}

TEST(Energy, IndependentErrorsAddInSquaresAndCalibrationAddsUp) {
  Energy integrated = with_parts(20_J, 4_J, 0.0);
  integrated.systematic = 2_J;
  integrated.method = EnergyMethod::integrated;
  const Energy sum = with_parts(10_J, 3_J, 0.0) + integrated;
  EXPECT_EQ(sum.value, 30_J);
  EXPECT_EQ(sum.uncertainty, 5_J);
  EXPECT_EQ(sum.systematic, 3_J);
  EXPECT_EQ(sum.method, EnergyMethod::integrated);
}

TEST(Energy, AnUnknownCalibrationMakesThatOfTheSumUnknown) {
  const Energy uncalibrated{
      .value = 1_J, .uncertainty = 0_J, .systematic = std::nullopt, .method = EnergyMethod::counter};
  EXPECT_FALSE((measured + uncalibrated).systematic);
  EXPECT_FALSE((uncalibrated + measured).systematic);
}

TEST(Energy, WhatDevicesShareInAWindowAddsUpAndOverWindowsInSquares) {
  const Energy one = with_parts(10_J, 5_J, 0.8);  // 3 J of its own, 4 J shared
  const Energy both = one + one;
  EXPECT_NEAR(both.uncertainty.value(), std::hypot(3 * std::sqrt(2.0), 8), 1e-12);
  EXPECT_NEAR((both.uncertainty * both.shared).value(), 8, 1e-12);
  EXPECT_NEAR((both + one).uncertainty.value(), (one + both).uncertainty.value(), 1e-12);
  EXPECT_NEAR(in_turn(one, one).uncertainty.value(), 5 * std::sqrt(2.0), 1e-12);
  // First over windows, then over devices: as the other way round.
  EXPECT_NEAR((in_turn(one, one) + in_turn(one, one)).uncertainty.value(), in_turn(both, both).uncertainty.value(),
              1e-12);
}

TEST(Energy, OfWhichOnlyTheUncertaintyIsKnownMayShareAllOfIt) {
  EXPECT_EQ((measured + measured).uncertainty, 3_J);
  EXPECT_NEAR(in_turn(measured, measured).uncertainty.value(), 1.5 * std::sqrt(2.0), 1e-12);
}

TEST(Energy, SumsOfCertainEnergiesAreCertain) {
  const Energy certain{.value = 0_J};
  const Energy sum = in_turn(certain + certain, certain);
  EXPECT_EQ(sum.uncertainty, 0_J);
  EXPECT_EQ((sum + measured).uncertainty, measured.uncertainty);
}

// Drawn errors whose make-up is known: the 95 % interval of sums holds the true energy as often as that of one energy.
TEST(Energy, TheIntervalOfASumHoldsTheTrueEnergyAsOftenAsThatOfOne) {
  Random random{7};
  for (const double shared : {0.0, 0.3, 0.7, 1.0}) {
    for (const int devices : {1, 2, 4, 8}) {
      constexpr int draws = 4000;
      int held = 0;
      for (int draw = 0; draw < draws; ++draw) {
        std::optional<Energy> total;
        for (int window = 0; window < 3; ++window) {
          const double common = random.normal();
          std::optional<Energy> of_window;
          for (int device = 0; device < devices; ++device) {
            const Joules deviation{1.0 + device};
            const double alone = random.normal();
            Energy one = with_parts(100_J, deviation * normal_95, shared);
            one.value += deviation * (one.own * alone + shared * common);
            of_window = of_window ? *of_window + one : one;
          }
          total = total ? in_turn(*total, *of_window) : *of_window;
        }
        held += std::abs(total->value.value() - 300 * devices) <= total->uncertainty.value() ? 1 : 0;
      }
      EXPECT_NEAR(static_cast<double>(held) / draws, 0.95, 0.0145) << shared << " shared by " << devices;
    }
  }
}

TEST(EnergyJson, IsTheFormOfTheContract) {
  EXPECT_EQ(to_json(measured), R"({"value":123.25,"uncertainty":1.5,"systematic":6.0,"method":"counter"})");
}

TEST(EnergyJson, TheUnknownIsNullAndNeverMissing) {
  const Energy energy{.value = 1_J, .uncertainty = 0_J, .systematic = std::nullopt, .method = EnergyMethod::estimate};
  EXPECT_EQ(to_json(energy), R"({"value":1.0,"uncertainty":0.0,"systematic":null,"method":"estimate"})");
}

TEST(EnergyJson, ComesBackAsItWas) {
  EXPECT_EQ(energy_from_json(to_json(measured)), measured);
}

TEST(EnergyJson, RefusesWhatIsNotAnEnergy) {
  for (const char* text : {
           "",
           "null",
           "[]",
           "{}",
           "{",
           R"({"value":1,"uncertainty":0,"method":"counter"})",
           R"({"value":1,"uncertainty":0,"systematic":null,"method":"guess"})",
           R"({"value":1,"uncertainty":-1,"systematic":null,"method":"counter"})",
           R"({"value":1,"uncertainty":0,"systematic":-2,"method":"counter"})",
           R"({"value":null,"uncertainty":0,"systematic":null,"method":"counter"})",
           R"({"value":"1","uncertainty":0,"systematic":null,"method":"counter"})",
           R"({"value":1e999,"uncertainty":0,"systematic":null,"method":"counter"})",
       }) {
    EXPECT_THROW(energy_from_json(text), Error) << text;
  }
}

}  // namespace
}  // namespace zeus::records
