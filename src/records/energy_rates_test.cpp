#include "records/energy_rates.hpp"

#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::records {
namespace {

TEST(EnergyRates, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_price("0.31EUR").per_kilowatt_hour, 0.31);
  EXPECT_EQ(parse_price("0.31 EUR").currency, "EUR");
  EXPECT_EQ(parse_price("31ct").currency, "ct");
  EXPECT_EQ(parse_price("-0.02EUR").per_kilowatt_hour, -0.02) << "the price of a windy night";
  EXPECT_EQ(parse_price("0.25€").currency, "€");
  EXPECT_EQ(parse_carbon("380g").grams_per_kilowatt_hour, 380.0);
  EXPECT_EQ(parse_carbon("0.38 kg").grams_per_kilowatt_hour, 380.0);
}

TEST(EnergyRates, RefuseWhatIsNoRate) {
  for (const char* const text :
       {"", "EUR", "0.31", "0.31 ", "nanEUR", "infEUR", "1e300EUR", "0.31EUR/kWh5", "1 EUR EUR"}) {
    EXPECT_THROW((void)parse_price(text), Error) << text;
  }
  for (const char* const text : {"", "g", "380", "-1g", "nan g", "380t", "1e30kg"}) {
    EXPECT_THROW((void)parse_carbon(text), Error) << text;
  }
}

TEST(EnergyRates, AnAmountHasTheDigitsThatItsIntervalLeaves) {
  EXPECT_EQ(money_text(0.00215, 0.00012, "EUR"), "0.00215 ± 0.00012 EUR");
  EXPECT_EQ(money_text(12.3456, std::nullopt, "EUR"), "12.3 EUR");
  EXPECT_EQ(money_text(-0.5, 0.02, "EUR"), "-0.500 ± 0.020 EUR");
  EXPECT_EQ(money_text(0.0, std::nullopt, "EUR"), "0.00 EUR");
  EXPECT_EQ(carbon_text(264.0, 2.0), "264.0 ± 2.0 g of CO2");
  EXPECT_EQ(carbon_text(2640.0, 20.0), "2.640 ± 0.020 kg of CO2");
}

TEST(EnergyRates, AKilowattHourCostsItsPriceAndEmitsItsIntensity) {
  const EnergyRates rates{.price = parse_price("0.31EUR"), .carbon = parse_carbon("380g")};
  const Joules kilowatt_hour = parse_joules("1kWh");
  EXPECT_EQ(to_text(rates, kilowatt_hour, kilowatt_hour * 0.1), "0.310 ± 0.031 EUR, 380 ± 38 g of CO2");
  EXPECT_EQ(to_text({.carbon = rates.carbon}, kilowatt_hour, std::nullopt), "380 g of CO2");
  EXPECT_EQ(to_text({}, kilowatt_hour, std::nullopt), "");
}

TEST(EnergyRates, AnUnknownEnergyHasNoAmount) {
  const EnergyRates rates{.price = parse_price("-0.5EUR"), .carbon = parse_carbon("360g")};
  const auto written = [&](const std::optional<Energy>& energy) {
    JsonWriter json;
    json.object([&] { put_amounts(json, rates, energy, "the GPU was lost"); });
    return json.take();
  };
  EXPECT_EQ(
      written(Energy{.value = parse_joules("2kWh"), .uncertainty = parse_joules("0.2kWh")}),
      R"({"cost":{"value":-1.0,"uncertainty":0.1,"currency":"EUR"},"carbon_g":{"value":720.0,"uncertainty":72.0}})");
  EXPECT_EQ(written(std::nullopt),
            R"({"cost":null,"carbon_g":null,"reason":{"cost":"the GPU was lost","carbon_g":"the GPU was lost"}})");
}

}  // namespace
}  // namespace zeus::records
