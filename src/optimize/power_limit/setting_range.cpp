#include "optimize/power_limit/setting_range.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace zeus::optimize {

namespace {

constexpr std::size_t most_settings = 1000;

template <typename T>
std::vector<T> descending(std::vector<T> values, const char* what) {
  for (const T value : values) {
    if (!std::isfinite(value.value()) || !(value.value() > 0.0)) {
      throw Error{ErrorKind::invalid_argument, fmt::format("one of the {} to profile is {}", what, value.value()),
                  "give finite numbers above zero"};
    }
  }
  if (values.size() > most_settings) {
    throw Error{ErrorKind::invalid_argument, fmt::format("there are {} {} to profile", values.size(), what),
                fmt::format("give at most {}; larger steps lose little", most_settings)};
  }
  std::ranges::sort(values, std::greater<>{});
  if (std::ranges::adjacent_find(values) != values.end()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("one of the {} to profile is listed twice", what),
                "list each once"};
  }
  return values;
}

}  // namespace

SettingRange::SettingRange(std::vector<Watts> limits, std::vector<Megahertz> clocks)
    : limits_{descending(std::move(limits), "power limits")}, clocks_{descending(std::move(clocks), "clocks")} {
  if (limits_.empty()) {
    throw Error{ErrorKind::invalid_argument, "there is no power limit to profile", "give at least one"};
  }
}

SettingRange SettingRange::of_steps(Watts min, Watts max, Watts step) {
  if (!(step > Watts{0}) || !std::isfinite(step.value()) || !(min <= max) || !std::isfinite(max.value()) ||
      (max - min) / step > static_cast<double>(most_settings)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("steps of {} W from {} W down to {} W are not a range of power limits", step.value(),
                            max.value(), min.value()),
                "give a range the device allows and a step such as 25 W"};
  }
  std::vector<Watts> limits;
  for (double i = 0; max - i * step >= min; ++i) {
    limits.push_back(max - i * step);
  }
  return SettingRange{std::move(limits)};
}

bool SettingRange::holds(const records::PowerSetting& setting) const {
  if (std::ranges::find(limits_, setting.limit) == limits_.end()) {
    return false;
  }
  return !setting.clock || std::ranges::find(clocks_, *setting.clock) != clocks_.end();
}

}  // namespace zeus::optimize
