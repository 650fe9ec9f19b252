// The default plan: short slices, taken only if they can still change the choice.
//
// It walks down from the highest limit and stops when the shape of the curve shows that nothing below can win. Then it
// goes up and down between the settings that still can, so that a GPU that warms up favours none of them. It ends when
// the choice is within `tolerance` of the best with probability `confidence`, when every contender is known to
// `relative_error`, or when the budget of steps is used up. If no limit holds the GPU back (the lowest one was tried
// and does not), it walks down the clocks instead. docs/power_limit.md has the statistics. The threading rules are
// those of PowerLimitPlan.
#pragma once

#include "optimize/cost/selector.hpp"
#include "optimize/power_limit/drift_model.hpp"
#include "optimize/power_limit/ladder.hpp"
#include "optimize/power_limit/power_limit_plan.hpp"
#include "optimize/power_limit/setting_range.hpp"
#include "optimize/power_limit/slice_length.hpp"
#include "records/power_profile.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace zeus::optimize {

struct AdaptivePlanOptions {
  // The choice is good enough if it would still be chosen after its time and energy shrink by this share.
  double tolerance = 0.01;
  double confidence = 0.98;
  double relative_error = 0.002;  // a setting is known if the standard errors of its time and energy are below this
  std::uint32_t warm_up = 10;     // steps to settle before the first slice
  std::uint32_t measure = 5;      // steps of a slice; more if the window is too coarse for so few
  Seconds settle_time{0.1};       // how long a GPU takes to follow a new limit
  // The budget of all slices together, settling included. 0 means 30 steps for each limit, and for each clock if clocks
  // are tried.
  std::uint64_t most_steps = 0;
  // Whether the training may be over soon: then slices are short even if steps are slow, and the walk goes down to the
  // lowest limit, so that no disturbed slice ends it.
  bool may_end_soon = false;
};

class AdaptivePlan final : public PowerLimitPlan {
 public:
  AdaptivePlan(const SettingRange& range, Selector selector, const AdaptivePlanOptions& options = {});
  // Continues from a profile. If the profile is complete and lies entirely in the range, the plan is done at once.
  // Measurements outside the range are dropped.
  AdaptivePlan(const SettingRange& range, Selector selector, const AdaptivePlanOptions& options,
               const records::PowerProfile& known);

  [[nodiscard]] std::optional<SliceRequest> next() override;
  void measured(const Slice& slice) override;
  void refused(const records::PowerSetting& setting) override;
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const override;
  [[nodiscard]] std::vector<records::PowerMeasurement> measurements() const override;

 private:
  // One setting and everything measured at it.
  struct Entry {
    records::PowerSetting setting;
    Knob knob = Knob::limit;
    bool refused = false;
    std::optional<std::size_t> column;  // its column in the models
    std::uint64_t steps = 0;
    std::optional<double> capped;
    std::optional<double> systematic;  // relative calibration bound of the energy
    records::EnergyMethod method = records::EnergyMethod::counter;
  };
  // The share of plausible outcomes in which an entry beats the choice by more than the tolerance.
  struct Outlook {
    std::size_t choice = 0;
    std::vector<double> threats;
  };

  [[nodiscard]] std::optional<SliceRequest> decide();
  [[nodiscard]] std::optional<std::size_t> next_entry();
  void choose_knob();
  [[nodiscard]] std::optional<std::size_t> step_down(const Outlook& outlook) const;
  [[nodiscard]] std::optional<std::size_t> contender(const Outlook& outlook);
  [[nodiscard]] Outlook look() const;
  [[nodiscard]] std::optional<std::size_t> winner(std::span<const Rung> drawn, std::span<const std::size_t> ladder,
                                                  std::size_t choice) const;
  [[nodiscard]] std::vector<Rung> rungs(std::span<const std::size_t> ladder, std::span<const double> times,
                                        std::span<const double> energies) const;
  [[nodiscard]] bool held_by_its_limit(const Entry& entry) const;
  [[nodiscard]] bool holds_nothing_back(const Entry& known, const Entry& lowest) const;
  [[nodiscard]] std::vector<std::size_t> ladder() const;
  [[nodiscard]] bool measured_any() const { return times_.settings() > 0; }
  [[nodiscard]] bool is_known(const Entry& entry) const;
  [[nodiscard]] Entry* find(const records::PowerSetting& setting);
  std::size_t column_of(Entry& entry, std::optional<double> capped);
  void take(const records::PowerMeasurement& known);

  Selector selector_;
  AdaptivePlanOptions options_;
  std::vector<Entry> entries_;  // limits, then clocks, each from the highest down
  Knob knob_ = Knob::limit;
  DriftModel times_;
  DriftModel energies_;
  std::optional<SliceRequest> pending_;
  bool done_ = false;
  SliceLength length_;
  std::vector<std::size_t> pass_;  // contenders still to measure in this pass; the last one is measured first
  std::optional<std::size_t> latest_;
  std::uint64_t used_ = 0;
  std::uint64_t slices_ = 0;
};

}  // namespace zeus::optimize
