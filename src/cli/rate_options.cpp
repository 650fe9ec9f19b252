#include "cli/rate_options.hpp"

#include <zeus/error.hpp>

namespace zeus::cli {

void RateFlags::declare(Options& options) {
  options.add_option("--price", price, "The price of a kWh, such as 0.31EUR: energies are shown as money too")
      .value_name("AMOUNT");
  options.add_option("--carbon", carbon, "What a kWh emits, such as 380g: energies are shown as CO2 equivalents too")
      .value_name("GRAMS");
}

records::EnergyRates RateFlags::rates() const {
  records::EnergyRates rates;
  try {
    if (!price.empty()) {
      rates.price = records::parse_price(price);
    }
    if (!carbon.empty()) {
      rates.carbon = records::parse_carbon(carbon);
    }
  } catch (const Error& error) {
    throw BadUsage{error.message(), "docs/cli.md has the forms"};
  }
  return rates;
}

}  // namespace zeus::cli
