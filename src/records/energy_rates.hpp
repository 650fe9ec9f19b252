// What a kilowatt-hour costs and emits, as people give it, and energies as money and grams in one form everywhere. The
// rates are taken as exact: an amount's interval is that of the energy. Pure functions and plain values; any thread.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::records {

class JsonWriter;

// A tariff's price may be negative, and then energy earns money.
struct EnergyPrice {
  double per_kilowatt_hour = 0.0;
  std::string currency;

  [[nodiscard]] double of(Joules energy) const;
};

// The emissions of producing electricity. The default is the world's average of 2023 (Ember, Global Electricity Review
// 2024: 480 g of CO2 equivalents per kWh).
struct CarbonIntensity {
  double grams_per_kilowatt_hour = 480.0;
  std::string source = "the world's average of 2023 (Ember)";

  [[nodiscard]] double grams(Joules energy) const;
};

// Those that were given.
struct EnergyRates {
  std::optional<EnergyPrice> price;
  std::optional<CarbonIntensity> carbon;
};

// "0.31EUR", "0.31 EUR", "-0.02EUR": per kilowatt-hour. An invalid_argument Error for anything else.
EnergyPrice parse_price(std::string_view text);
// "380g", "0.38 kg": of CO2 equivalents per kilowatt-hour.
CarbonIntensity parse_carbon(std::string_view text);

// "0.00215 EUR", "264 g of CO2"; in kg from a kilogram on. With a half-width, as many digits as it leaves certain.
std::string money_text(double amount, const std::optional<double>& half_width, std::string_view currency);
std::string carbon_text(double grams, const std::optional<double>& half_width);

// The amounts of an energy, each followed by a comma and a space but the last: "0.00215 ± 0.00012 EUR, 2.64 ± 0.14 g of
// CO2". Empty without rates.
std::string to_text(const EnergyRates& rates, Joules energy, const std::optional<Joules>& half_width);

// "cost": {"value", "uncertainty", "currency"} and "carbon_g": {"value", "uncertainty"}, each if its rate was given. An
// unknown energy makes them null, with this reason.
void put_amounts(JsonWriter& json, const EnergyRates& rates, const std::optional<Energy>& energy,
                 std::string_view reason);

}  // namespace zeus::records
