#include "train/setting_choice.hpp"

#include "base/portable_math.hpp"
#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/power_limit/adaptive_plan.hpp"
#include "optimize/power_limit/choice.hpp"
#include "optimize/power_limit/full_sweep.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace zeus::train {

namespace {

using records::PowerMeasurement;
using records::PowerSetting;

constexpr double normal_95 = 1.959963984540054;
// To which half-width of their intervals time and energy have to be known where a prediction or a bound rests on them,
// and how many more slices that may take.
constexpr double well_known = 0.008;
constexpr int most_further_slices = 16;
constexpr std::uint32_t further_measure = 10;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

Seconds deviation(const PowerMeasurement& m) {
  return m.step_time_uncertainty / normal_95;
}

bool surely_fast_enough(const PowerMeasurement& one, const PowerMeasurement& fastest, const MaxSlowdown& bound) {
  if (one.setting == fastest.setting) {
    return true;
  }
  const Seconds excess = one.step_time - bound.factor * fastest.step_time;
  const double spread = std::hypot(deviation(one).value(), bound.factor * deviation(fastest).value());
  return excess.value() + portable::normal_quantile(bound.confidence) * spread <= 0.0;
}

const PowerMeasurement& fastest_of(std::span<const PowerMeasurement> measurements) {
  return *std::ranges::min_element(measurements, {}, &PowerMeasurement::step_time);
}

std::optional<PowerSetting> choose_within(const MaxSlowdown& bound, std::span<const PowerMeasurement> measurements) {
  const PowerMeasurement* best = nullptr;
  for (const PowerMeasurement& one : measurements) {
    if (surely_fast_enough(one, fastest_of(measurements), bound) &&
        (best == nullptr || one.step_energy.value < best->step_energy.value)) {
      best = &one;
    }
  }
  return best == nullptr ? std::nullopt : std::optional{best->setting};
}

void check(const MaxSlowdown& bound) {
  if (!(bound.confidence > 0.0 && bound.confidence < 1.0)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the confidence of the slowdown bound is {}", bound.confidence),
                "give a number between 0 and 1, such as 0.95"};
  }
}

double doubt(const PowerMeasurement& m) {
  return std::max(m.step_time_uncertainty / m.step_time, m.step_energy.uncertainty / m.step_energy.value);
}

// A plan that goes on, after the one inside is done, until what the goal rests on is known well enough.
class GoalPlan final : public optimize::PowerLimitPlan {
 public:
  GoalPlan(std::unique_ptr<optimize::PowerLimitPlan> plan, PowerGoal goal, Watts max_power,
           std::optional<PowerSetting> predicted_from, int most_further, std::uint64_t steps_left)
      : plan_{std::move(plan)},
        goal_{std::move(goal)},
        max_power_{max_power},
        predicted_from_{predicted_from},
        further_left_{most_further},
        steps_left_{steps_left} {}

  std::optional<optimize::SliceRequest> next() override {
    std::optional<optimize::SliceRequest> request = plan_->next();
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
    return optimize::SliceRequest{.setting = *setting, .settle = std::max(settle_, 1U), .measure = further_measure};
  }

  void measured(const optimize::Slice& slice) override {
    further_left_ -= plan_->next() ? 0 : 1;
    steps_left_ -= std::min<std::uint64_t>(steps_left_, slice.measure + settle_);
    plan_->measured(slice);
  }

  void refused(const PowerSetting& setting) override {
    refused_.push_back(setting);
    plan_->refused(setting);
  }

  [[nodiscard]] std::optional<PowerSetting> optimum() const override {
    return choose_setting(goal_, max_power_, plan_->measurements());
  }
  [[nodiscard]] std::vector<PowerMeasurement> measurements() const override { return plan_->measurements(); }

 private:
  [[nodiscard]] std::optional<PowerSetting> worth_another_look() const {
    const std::vector<PowerMeasurement> known = plan_->measurements();
    const std::optional<PowerSetting> choice = choose_setting(goal_, max_power_, known);
    if (!choice) {
      return std::nullopt;
    }
    std::vector<PowerSetting> wanted = undecided(known, *choice);
    if (predicted_from_ && *choice != *predicted_from_) {
      wanted.push_back(*choice);
      wanted.push_back(*predicted_from_);
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

  // Those that would save more than the choice and are fast enough by their means, though not surely; and what they are
  // compared with.
  [[nodiscard]] std::vector<PowerSetting> undecided(const std::vector<PowerMeasurement>& known,
                                                    const PowerSetting& choice) const {
    std::vector<PowerSetting> open;
    const auto* const bound = std::get_if<MaxSlowdown>(&goal_);
    if (bound == nullptr) {
      return open;
    }
    const PowerMeasurement& fastest = fastest_of(known);
    const PowerMeasurement& chosen = *std::ranges::find(known, choice, &PowerMeasurement::setting);
    for (const PowerMeasurement& one : known) {
      if (one.step_energy.value < chosen.step_energy.value && one.step_time <= bound->factor * fastest.step_time) {
        open.push_back(one.setting);
      }
    }
    if (!open.empty()) {
      open.push_back(fastest.setting);
    }
    return open;
  }

  std::unique_ptr<optimize::PowerLimitPlan> plan_;
  PowerGoal goal_;
  Watts max_power_;
  std::optional<PowerSetting> predicted_from_;
  std::vector<PowerSetting> refused_;
  std::uint32_t settle_ = 1;
  int further_left_;
  std::uint64_t steps_left_;
};

// In a short training, where slices of the usual length would leave hardly any: these say as much of a curve together.
constexpr std::uint32_t short_measure = 2;

// A short training is to have a quarter of its steps left after being profiled; 0 where the plan's own bound is lower,
// or it is not known how long the training is.
std::uint64_t most_steps(const TrainingOptions& options, const optimize::SettingRange& range) {
  constexpr std::uint64_t usual_for_each_setting = 30;
  if (!options.steps_per_epoch || !options.max_epochs) {
    return 0;
  }
  const std::uint64_t most = *options.steps_per_epoch * *options.max_epochs * 3 / 4;
  return most < usual_for_each_setting * range.limits().size() ? std::max<std::uint64_t>(most, 1) : 0;
}

}  // namespace

optimize::Selector selector_of(const PowerGoal& goal, Watts max_power) {
  return std::visit(Overloaded{[](const LeastTime&) { return optimize::select_time(); },
                               [](const LeastEnergy&) { return optimize::select_energy(); },
                               [&](const LeastCost& cost) -> optimize::Selector {
                                 return [price = optimize::EnergyTimeCost{cost.eta, max_power}](
                                            std::span<const records::LimitProfile> profiles) {
                                   return optimize::cheapest_limit(price, profiles);
                                 };
                               },
                               [](const MaxSlowdown& bound) {
                                 check(bound);
                                 return optimize::select_max_slowdown(bound.factor);
                               },
                               [](const PowerSelector& own) -> optimize::Selector {
                                 if (!own) {
                                   throw Error{ErrorKind::invalid_argument, "the selector of power limits is empty",
                                               "give one that selects"};
                                 }
                                 return own;
                               }},
                    goal);
}

std::optional<PowerSetting> choose_setting(const PowerGoal& goal, Watts max_power,
                                           std::span<const PowerMeasurement> measurements) {
  if (const auto* const bound = std::get_if<MaxSlowdown>(&goal); bound != nullptr && !measurements.empty()) {
    return choose_within(*bound, measurements);
  }
  return optimize::choose(selector_of(goal, max_power), measurements);
}

std::vector<Watts> limits_to_try(const TrainingOptions& options, Watts lowest, Watts highest,
                                 std::optional<Watts> found) {
  const Watts low = std::max(lowest, options.lowest_limit.value_or(lowest));
  const Watts high = std::min(highest, options.highest_limit.value_or(highest));
  if (!(low <= high)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("there is no power limit between {:.6g} W and {:.6g} W that all GPUs allow", low.value(),
                            high.value()),
                fmt::format("they have {:.6g} W to {:.6g} W in common", lowest.value(), highest.value())};
  }
  if (!options.limits.empty()) {
    std::vector<Watts> limits = options.limits;
    std::erase_if(limits, [&](Watts limit) { return limit < low || limit > high; });
    return limits;
  }
  const optimize::SettingRange grid = optimize::SettingRange::of_steps(low, high, options.limit_step);
  std::vector<Watts> limits{grid.limits().begin(), grid.limits().end()};
  if (found && *found >= low && *found <= high && std::ranges::find(limits, *found) == limits.end()) {
    limits.push_back(*found);
  }
  return limits;
}

std::unique_ptr<optimize::PowerLimitPlan> make_plan(const TrainingOptions& options, const optimize::SettingRange& range,
                                                    Watts max_power, const std::optional<records::PowerProfile>& known,
                                                    const std::optional<PowerSetting>& predicted_from) {
  optimize::Selector selector = selector_of(options.goal, max_power);
  std::unique_ptr<optimize::PowerLimitPlan> plan;
  const auto* const sweep = std::get_if<SweepProfiling>(&options.profiling);
  if (sweep != nullptr && !(known && known->complete)) {
    return std::make_unique<GoalPlan>(
        std::make_unique<optimize::FullSweep>(
            range, std::move(selector), optimize::FullSweepOptions{.settle = sweep->settle, .measure = sweep->measure}),
        options.goal, max_power, std::nullopt, 0, 0);
  }
  optimize::AdaptivePlanOptions adaptive;
  if (const auto* const given = std::get_if<AdaptiveProfiling>(&options.profiling)) {
    adaptive.tolerance = given->tolerance;
    adaptive.warm_up = given->warm_up;
  }
  adaptive.most_steps = most_steps(options, range);
  if (adaptive.most_steps > 0) {
    adaptive.measure = short_measure;
  }
  if (known) {
    plan = std::make_unique<optimize::AdaptivePlan>(range, std::move(selector), adaptive, *known);
  } else {
    plan = std::make_unique<optimize::AdaptivePlan>(range, std::move(selector), adaptive);
  }
  const std::uint64_t steps = adaptive.most_steps > 0 ? adaptive.most_steps : std::numeric_limits<std::uint64_t>::max();
  return std::make_unique<GoalPlan>(std::move(plan), options.goal, max_power, predicted_from, most_further_slices,
                                    steps);
}

}  // namespace zeus::train
