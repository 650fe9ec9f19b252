// The default plan: short slices, taken only where they can still change the choice.
//
// It walks down from the highest limit and stops walking where the shape of the curve says that nothing below can win;
// then it goes up and down between the settings that still can, so that warming up favours none, until the choice is
// within `tolerance` of the best with probability `confidence`, or every contender is known to `relative_error`, or the
// budget of steps is used up. Where no limit holds the GPU back (the lowest one, tried, caps nothing), it walks down
// the clocks instead. docs/power_limit.md has the statistics. Thread rules as for PowerLimitPlan.
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
  // The choice is good enough when it would still be chosen if its time and energy were smaller by this part.
  double tolerance = 0.01;
  double confidence = 0.98;
  double relative_error = 0.002;  // standard error of time and energy below which a setting is known
  std::uint32_t warm_up = 10;     // steps to settle before the very first slice
  std::uint32_t measure = 5;      // steps of a slice; more where the window is too coarse for so few
  Seconds settle_time{0.1};       // how long a GPU takes to follow a new limit
  // All slices together, settling included; 0 is 30 steps for each limit, and for each clock where clocks are tried.
  std::uint64_t most_steps = 0;
};

class AdaptivePlan final : public PowerLimitPlan {
 public:
  AdaptivePlan(const SettingRange& range, Selector selector, const AdaptivePlanOptions& options = {});
  // Goes on from a profile: done at once when it is complete and all of it lies in the range. Measurements outside of
  // the range are left out.
  AdaptivePlan(const SettingRange& range, Selector selector, const AdaptivePlanOptions& options,
               const records::PowerProfile& known);

  [[nodiscard]] std::optional<SliceRequest> next() override;
  void measured(const Slice& slice) override;
  void refused(const records::PowerSetting& setting) override;
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const override;
  [[nodiscard]] std::vector<records::PowerMeasurement> measurements() const override;

 private:
  // One setting and all that was measured of it.
  struct Entry {
    records::PowerSetting setting;
    Knob knob = Knob::limit;
    bool refused = false;
    std::optional<std::size_t> column;  // in the models
    std::uint64_t steps = 0;
    std::optional<double> capped;
    std::optional<double> systematic;  // relative calibration bound of the energy
    records::EnergyMethod method = records::EnergyMethod::counter;
  };
  // How often, in what may be true, an entry beats the choice by more than the tolerance.
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
  std::vector<std::size_t> pass_;  // contenders still to be measured in this pass; the last one comes first
  std::optional<std::size_t> latest_;
  std::uint64_t used_ = 0;
  std::uint64_t slices_ = 0;
};

}  // namespace zeus::optimize
