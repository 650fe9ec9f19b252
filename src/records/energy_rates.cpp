#include "records/energy_rates.hpp"

#include "base/amount_text.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace zeus::records {

namespace {

constexpr double joules_per_kilowatt_hour = 3.6e6;
// Beyond it, a rate times an energy of any record could leave the range of numbers.
constexpr double highest_rate = 1e9;
constexpr std::size_t longest_currency = 8;
constexpr int most_decimals = 9;

struct NumberAndUnit {
  double number = 0.0;
  std::string unit;
};

std::optional<NumberAndUnit> number_and_unit(std::string_view text) {
  NumberAndUnit result;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (error != std::errc{} || !(std::abs(result.number) <= highest_rate)) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.size() > 1 && rest.front() == ' ') {
    rest.remove_prefix(1);
  }
  result.unit = rest;
  return result;
}

bool is_currency(std::string_view word) {
  const auto plain = [](unsigned char letter) {
    return letter > ' ' && letter != 0x7f && !(letter >= '0' && letter <= '9');
  };
  return !word.empty() && word.size() <= longest_currency && std::ranges::all_of(word, plain);
}

// With two digits of the half-width, or else three of the amount.
std::string amount_text(double amount, const std::optional<double>& half_width, std::string_view unit) {
  if (!half_width || *half_width <= 0.0) {
    return fmt::format("{:.{}f} {}", amount, amount == 0.0 ? 2 : decimals_for(amount, 3, most_decimals), unit);
  }
  const int decimals = decimals_for(*half_width, 2, most_decimals);
  return fmt::format("{:.{}f} ± {:.{}f} {}", amount, decimals, *half_width, decimals, unit);
}

}  // namespace

double EnergyPrice::of(Joules energy) const {
  return energy.value() / joules_per_kilowatt_hour * per_kilowatt_hour;
}

double CarbonIntensity::grams(Joules energy) const {
  return energy.value() / joules_per_kilowatt_hour * grams_per_kilowatt_hour;
}

EnergyPrice parse_price(std::string_view text) {
  const std::optional<NumberAndUnit> said = number_and_unit(text);
  if (!said || !is_currency(said->unit)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("'{}' is not the price of a kilowatt-hour, such as 0.31EUR", text.substr(0, 64))};
  }
  return {.per_kilowatt_hour = said->number, .currency = said->unit};
}

CarbonIntensity parse_carbon(std::string_view text) {
  const std::optional<NumberAndUnit> said = number_and_unit(text);
  if (!said || said->number < 0.0 || (said->unit != "g" && said->unit != "kg")) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("'{}' is not what a kilowatt-hour emits, such as 380g", text.substr(0, 64))};
  }
  return {.grams_per_kilowatt_hour = said->unit == "kg" ? said->number * 1000.0 : said->number, .source = "as given"};
}

std::string money_text(double amount, const std::optional<double>& half_width, std::string_view currency) {
  return amount_text(amount, half_width, currency);
}

std::string carbon_text(double grams, const std::optional<double>& half_width) {
  const bool heavy = std::abs(grams) >= 1000.0;
  const double unit = heavy ? 1000.0 : 1.0;
  return amount_text(grams / unit, half_width ? std::optional{*half_width / unit} : std::nullopt,
                     heavy ? "kg of CO2" : "g of CO2");
}

std::string to_text(const EnergyRates& rates, Joules energy, const std::optional<Joules>& half_width) {
  std::string text;
  if (rates.price) {
    text = money_text(rates.price->of(energy),
                      half_width ? std::optional{std::abs(rates.price->of(*half_width))} : std::nullopt,
                      rates.price->currency);
  }
  if (rates.carbon) {
    text += text.empty() ? "" : ", ";
    text += carbon_text(rates.carbon->grams(energy),
                        half_width ? std::optional{rates.carbon->grams(*half_width)} : std::nullopt);
  }
  return text;
}

void put_amounts(JsonWriter& json, const EnergyRates& rates, const std::optional<Energy>& energy,
                 std::string_view reason) {
  if (!energy) {
    if (rates.price) {
      json.put_unknown("cost", reason);
    }
    if (rates.carbon) {
      json.put_unknown("carbon_g", reason);
    }
    return;
  }
  if (rates.price) {
    json.put("cost", [&] {
      json.put("value", rates.price->of(energy->value));
      json.put("uncertainty", std::abs(rates.price->of(energy->uncertainty)));
      json.put("currency", rates.price->currency);
    });
  }
  if (rates.carbon) {
    json.put("carbon_g", [&] {
      json.put("value", rates.carbon->grams(energy->value));
      json.put("uncertainty", rates.carbon->grams(energy->uncertainty));
    });
  }
}

}  // namespace zeus::records
