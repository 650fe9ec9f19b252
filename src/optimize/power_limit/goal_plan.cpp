#include "optimize/power_limit/goal_plan.hpp"

#include "optimize/power_limit/adaptive_plan.hpp"
#include "optimize/power_limit/full_sweep.hpp"
#include "optimize/power_limit/goal.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::optimize {

namespace {

using records::PowerMeasurement;
using records::PowerSetting;

// If a prediction or a bound uses the time and energy of a setting, their intervals must reach this half-width, and
// this many more slices may be spent on that.
constexpr double well_known = 0.008;
constexpr int most_further_slices = 16;
constexpr std::uint32_t further_measure = 10;

double doubt(const PowerMeasurement& m) {
  return std::max(m.step_time_uncertainty / m.step_time, m.step_energy.uncertainty / m.step_energy.value);
}

// A plan that continues after its inner plan is done, until the settings that the goal depends on are known well
// enough.
class GoalPlan final : public PowerLimitPlan {
 public:
  GoalPlan(std::unique_ptr<PowerLimitPlan> plan, const PlanWish& wish, const SettingRange& range, int most_further,
           std::uint64_t steps_left)
      : plan_{std::move(plan)},
        goal_{wish.goal},
        cost_{wish.cost},
        predicted_from_{wish.predicted_from},
        may_try_it_{predicted_from_ && range.holds(*predicted_from_)},
        further_left_{most_further},
        steps_left_{steps_left} {}

  std::optional<SliceRequest> next() override {
    std::optional<SliceRequest> request = plan_->next();
    if (request) {
      settle_ = request->settle;
      return request;
    }
    if (further_left_ == 0 || steps_left_ == 0) {
      return std::nullopt;
    }
    const std::optional<PowerSetting> setting = worth_another_look();
    if (!setting) {
      return std::nullopt;
    }
    return SliceRequest{.setting = *setting, .settle = std::max(settle_, 1U), .measure = further_measure};
  }

  void measured(const Slice& slice) override {
    further_left_ -= plan_->next() ? 0 : 1;
    steps_left_ -= std::min<std::uint64_t>(steps_left_, slice.measure + settle_);
    plan_->measured(slice);
  }

  void refused(const PowerSetting& setting) override {
    refused_.push_back(setting);
    plan_->refused(setting);
  }

  [[nodiscard]] std::optional<PowerSetting> optimum() const override {
    return choose_setting(goal_, cost_, plan_->measurements());
  }
  [[nodiscard]] std::vector<PowerMeasurement> measurements() const override { return plan_->measurements(); }

 private:
  [[nodiscard]] std::optional<PowerSetting> worth_another_look() const {
    const std::vector<PowerMeasurement> known = plan_->measurements();
    const std::optional<PowerSetting> choice = choose_setting(goal_, cost_, known);
    if (!choice) {
      return std::nullopt;
    }
    std::vector<PowerSetting> wanted = undecided(goal_, *choice, known);
    if (predicted_from_ && *choice != *predicted_from_) {
      wanted.push_back(*choice);
      if (may_try_it_) {
        wanted.push_back(*predicted_from_);
      }
    }
    std::optional<PowerSetting> worst;
    double worst_doubt = well_known;
    for (const PowerSetting& setting : wanted) {
      const auto found = std::ranges::find(known, setting, &PowerMeasurement::setting);
      const double its = found == known.end() ? 1.0 : doubt(*found);
      if (its > worst_doubt && std::ranges::find(refused_, setting) == refused_.end()) {
        worst = setting;
        worst_doubt = its;
      }
    }
    return worst;
  }

  std::unique_ptr<PowerLimitPlan> plan_;
  PowerGoal goal_;
  EnergyTimeCost cost_;
  std::optional<PowerSetting> predicted_from_;
  bool may_try_it_;
  std::vector<PowerSetting> refused_;
  std::uint32_t settle_ = 1;
  int further_left_;
  std::uint64_t steps_left_;
};

// The measured steps of a slice in a short training, which has no room for enough slices of the usual length. Many
// short slices show as much of the curve together.
constexpr std::uint32_t short_measure = 2;

// After profiling, a short training must have a quarter of its steps left. Returns 0 if the plan's own budget is lower,
// or if the length of the training is unknown.
std::uint64_t most_steps(const PlanWish& wish, const SettingRange& range) {
  constexpr std::uint64_t usual_for_each_setting = 30;
  if (!wish.training_steps) {
    return 0;
  }
  const std::uint64_t most = *wish.training_steps * 3 / 4;
  return most < usual_for_each_setting * range.limits().size() ? std::max<std::uint64_t>(most, 1) : 0;
}

}  // namespace

std::unique_ptr<PowerLimitPlan> make_plan(const SettingRange& range, const PlanWish& wish) {
  Selector selector = selector_of(wish.goal, wish.cost);
  const auto* const sweep = std::get_if<SweepProfiling>(&wish.profiling);
  if (sweep != nullptr && !(wish.known && wish.known->complete)) {
    return std::make_unique<GoalPlan>(
        std::make_unique<FullSweep>(range, std::move(selector),
                                    FullSweepOptions{.settle = sweep->settle, .measure = sweep->measure}),
        wish, range, 0, 0);
  }
  AdaptivePlanOptions adaptive;
  if (const auto* const given = std::get_if<AdaptiveProfiling>(&wish.profiling)) {
    adaptive.tolerance = given->tolerance;
    adaptive.warm_up = given->warm_up;
  }
  adaptive.most_steps = most_steps(wish, range);
  adaptive.may_end_soon = wish.may_end_soon;
  if (adaptive.most_steps > 0) {
    adaptive.measure = short_measure;
  }
  std::unique_ptr<PowerLimitPlan> plan;
  if (wish.known) {
    plan = std::make_unique<AdaptivePlan>(range, std::move(selector), adaptive, *wish.known);
  } else {
    plan = std::make_unique<AdaptivePlan>(range, std::move(selector), adaptive);
  }
  const std::uint64_t steps = adaptive.most_steps > 0 ? adaptive.most_steps : std::numeric_limits<std::uint64_t>::max();
  return std::make_unique<GoalPlan>(std::move(plan), wish, range, most_further_slices, steps);
}

}  // namespace zeus::optimize
