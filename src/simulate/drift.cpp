#include "simulate/drift.hpp"

#include "base/portable_math.hpp"
#include "base/random.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace zeus::simulate {

namespace {

constexpr int most_drifts_drawn = 10'000;
constexpr double tilt_spread = 0.5;
constexpr double most_curve = 0.15;
constexpr double least_move = 2.0;  // octaves
constexpr double least_worsening = 1.2;

[[noreturn]] void refuse_drift(std::string_view part) {
  throw Error{
      ErrorKind::invalid_argument, fmt::format("'{}' is not a setting of a drift", part.substr(0, 60)),
      "write at=RECURRENCE,tilt=T,curve=C (natural logarithms per octave and its square) or at=RECURRENCE,random"};
}

}  // namespace

Workload drifted(const Workload& workload, const Drift& drift) {
  Workload result = workload;
  for (WorkloadArm& arm : result.arms) {
    const double x = portable::log2(static_cast<double>(arm.batch_size) / workload.default_batch_size);
    const double factor = portable::exp(std::clamp(drift.tilt * x + drift.curve * x * x, -10.0, 10.0));
    for (std::optional<int>& run : arm.runs) {
      if (run) {
        run = static_cast<int>(std::clamp(std::round(*run * factor), 1.0, 1e6));
      }
    }
  }
  return result;
}

std::optional<Drift> random_drift(const Workload& workload, double eta, std::uint64_t from_recurrence,
                                  std::uint64_t seed) {
  const optimize::EnergyTimeCost cost{eta, workload.max_power};
  const Configuration before = optimum(workload, cost);
  Random draw{seed, from_recurrence, 0x64726674};
  for (int attempt = 0; attempt < most_drifts_drawn; ++attempt) {
    const Drift drift{.from_recurrence = from_recurrence,
                      .tilt = draw.normal(0.0, tilt_spread),
                      .curve = draw.uniform(0.0, most_curve)};
    const Workload after = drifted(workload, drift);
    const bool possible = std::ranges::any_of(
        after.arms, [&after](const WorkloadArm& arm) { return arm.always_reaches(after.max_epochs); });
    if (!possible || !after.arms[before.arm].ever_reaches(after.max_epochs) ||
        !after.arms[after.arm_of(after.default_batch_size)].ever_reaches(after.max_epochs)) {
      continue;
    }
    const Configuration best = optimum(after, cost);
    const double move = std::fabs(
        portable::log2(static_cast<double>(after.arms[best.arm].batch_size) / after.arms[before.arm].batch_size));
    if (move >= least_move && mean_of(after, cost, before.arm, before.limit).cost >= least_worsening * best.cost) {
      return drift;
    }
  }
  return std::nullopt;
}

Drift parse_drift(std::string_view text, const Workload& workload, double eta, std::uint64_t seed) {
  Drift drift;
  bool random = false;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part == "random") {
      random = true;
      continue;
    }
    const std::size_t equals = part.find('=');
    double value = 0.0;
    const std::string_view number = equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (problem != std::errc{} || end != number.data() + number.size() || !(std::fabs(value) <= 1e9)) {
      refuse_drift(part);
    }
    const std::string_view key = part.substr(0, equals);
    if (key == "at" && value >= 0.0) {
      drift.from_recurrence = static_cast<std::uint64_t>(value);
    } else if (key == "tilt") {
      drift.tilt = value;
    } else if (key == "curve") {
      drift.curve = value;
    } else {
      refuse_drift(part);
    }
  }
  if (!random) {
    return drift;
  }
  const std::optional<Drift> drawn = random_drift(workload, eta, drift.from_recurrence, seed);
  if (!drawn) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("no drift of {} moves the best batch size by two octaves", workload.name),
                "give tilt and curve"};
  }
  return *drawn;
}

}  // namespace zeus::simulate
