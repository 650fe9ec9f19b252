// Finds the power limit or clock at which a served model takes the least energy for a token while latencies stay within
// bounds: what to measure next, and which is best. Pure; one thread at a time.
#pragma once

#include "device/watt_range.hpp"
#include "serving/bench_result.hpp"
#include "serving/figures.hpp"

#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::serving {

// Whether a run keeps the bounds: if the upper end of each percentile's interval is within. It is unclear if the
// lower end is, and not the upper one, or if the run never became steady: more requests may make it clear.
struct Verdict {
  std::string why_not = {};  // empty: within all bounds
  bool is_unclear = false;
  bool is_unsteady = false;
};
Verdict verdict_on(const BenchResult& result, const std::vector<BoundedTime>& times);

struct TriedSetting {
  PowerSetting setting = {};
  BenchResult result = {};
  Verdict verdict = {};
  std::uint64_t effort = 1;  // so many times the usual number of requests
};

// What all of the GPUs allow.
struct SettingLimits {
  Watts lowest = {};
  Watts highest = {};
  std::vector<Megahertz> clocks = {};  // highest first; empty if they cannot be locked
  // What a policy allows on each GPU that it bounds.
  std::vector<std::vector<device::WattRange>> allowed = {};
};

// The settings below the highest limit, under which a GPU draws `drawn`: limits that bind, or clocks if hardly any
// does.
std::vector<PowerSetting> settings_below(const SettingLimits& limits, Watts drawn, std::size_t steps);

class Tuning {
 public:
  // Measures the highest limit first.
  Tuning(SettingLimits limits, std::size_t steps);

  struct Step {
    PowerSetting setting = {};
    std::uint64_t effort = 1;
    bool is_extra = false;  // beyond the highest limit and the settings below it, each once
  };

  // What to measure next: a setting that is unclear again, with twice as many requests, up to eight times, or four
  // times if it never became steady; otherwise
  // the next lower one, until two in a row are not within the bounds, or one takes clearly more energy for a token than
  // the best; then two between the best and the next lower one, if that is not within the bounds. Nothing at the end.
  [[nodiscard]] std::optional<Step> next() const;
  // The result of what was next, and its times at each bound; there is such a step. `gpus`: how many were set.
  void add(BenchResult result, const std::vector<BoundedTime>& times, std::size_t gpus);

  [[nodiscard]] const std::vector<TriedSetting>& tried() const { return tried_; }
  // The one within the bounds that takes the least energy for a token, where intervals overlap by what the settings
  // beside it say as well; nothing if none is within.
  [[nodiscard]] std::optional<std::size_t> best() const;

 private:
  [[nodiscard]] bool is_to_be_repeated() const;
  [[nodiscard]] bool has_descended() const;
  [[nodiscard]] std::optional<PowerSetting> between() const;
  // As the settings beside it say as well, within its own interval: what one more watt costs changes little from one
  // setting to the next.
  [[nodiscard]] Joules energy_by_neighbours(const TriedSetting& one) const;

  SettingLimits limits_;
  std::size_t steps_;
  Watts drawn_ = {};                  // by a GPU at the highest limit
  std::vector<PowerSetting> to_try_;  // from the highest down
  std::size_t refined_ = 0;           // how many of the tried ones lie between others; the last ones
  std::vector<TriedSetting> tried_;
};

}  // namespace zeus::serving
