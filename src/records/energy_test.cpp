#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::records {
namespace {

const Energy measured{.value = 123.25_J, .uncertainty = 1.5_J, .systematic = 6_J, .method = EnergyMethod::counter};

TEST(Energy, IndependentErrorsAddInSquaresAndCalibrationAddsUp) {
  const Energy sum = Energy{.value = 10_J, .uncertainty = 3_J, .systematic = 1_J, .method = EnergyMethod::counter} +
                     Energy{.value = 20_J, .uncertainty = 4_J, .systematic = 2_J, .method = EnergyMethod::integrated};
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
