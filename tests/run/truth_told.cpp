#include "tests/run/truth_told.hpp"

#include "base/student_quantile.hpp"
#include "jobs/scatter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zeus::truth {

namespace {

std::optional<Watts> chosen_limit(const records::JobView& view, int batch_size) {
  const auto arm = std::ranges::find(view.arms, batch_size, &records::ArmView::batch_size);
  return arm == view.arms.end() ? std::nullopt : arm->best_limit;
}

}  // namespace

void Witness::begin(const Script& now) {
  now_ = now;
  took_.emplace_back();
  default_.push_back(expected_default(now_));
}

void Witness::hear(const Took& took) {
  took_.back() = took_.back() + took.cost;
  if (took.whole) {
    epochs_.at(took.arm).push_back(took.epochs);
  }
}

Told Witness::tell(const records::JobView& view) {
  const records::RecurrenceView& last = view.recurrences.back();
  const Cost of_default = default_.back();
  const Joules default_cost = weighed(now_, of_default);
  const auto about = [&](Said said, Joules truth) {
    return Statement{.said = said, .truth = truth, .of_default = default_cost};
  };
  Told told;
  told.reached = last.state == records::RecurrenceState::reached;
  told.given_up = last.reason;
  // The energy of virtual GPUs is always known.
  const Joules cost = last.cost.value();
  const Joules uncertainty = last.uncertainty.value();
  told.energy = {.said = {.value = last.energy.value(), .half_width = uncertainty},
                 .truth = took_.back().energy,
                 .of_default = of_default.energy};
  told.cost = about({.value = cost, .half_width = uncertainty * script_.eta}, weighed(now_, took_.back()));
  if (last.default_cost) {
    told.default_cost = about({.value = *last.default_cost, .half_width = last.default_cost_uncertainty}, default_cost);
    told.saved_by_it = about({.value = *last.default_cost - cost, .half_width = last.default_cost_uncertainty},
                             default_cost - told.cost.truth);
  }
  tell_part(view, told);
  tell_belief(view, told, default_cost);
  tell_savings(view, told);
  const records::TryView& one = view.tries.back();
  const std::size_t arm = arm_of(one.batch_size);
  told.ran_default = arm == now_.usual && one.limit == now_.gpu.limits.max;
  told.student = student();
  // That of the last training, or the choice where it had several.
  told.limit = one.limit ? one.limit : chosen_limit(view, one.batch_size);
  if (told.limit) {
    told.over_best = excess_of_limit(now_, now_.arms[arm], *told.limit, view.device.power_limits);
  }
  return told;
}

void Witness::tell_belief(const records::JobView& view, Told& told, Joules default_cost) {
  for (const records::ArmView& arm : view.arms) {
    profiled_ = profiled_ || !arm.limits.empty();
    if (!arm.is_default && now_.chooses_batch_size) {
      continue;
    }
    if (!arm.expected_cost || !arm.best_limit) {
      continue;
    }
    const Arm& usual = now_.arms[now_.usual];
    const Joules truth = weighed(now_, of_run(now_, usual, *arm.best_limit, expected_epochs(now_, usual)));
    const Joules middle = (*arm.low_cost + *arm.high_cost) * 0.5;
    told.belief = Statement{
        .said = {.value = middle, .half_width = *arm.high_cost - middle}, .truth = truth, .of_default = default_cost};
  }
}

// As the last line of `zeus run` states it.
void Witness::tell_part(const records::JobView& view, Told& told) {
  const records::RecurrenceView& last = view.recurrences.back();
  const records::TryView& one = view.tries.back();
  if (told.reached && last.tries == 1 && one.limit && last.default_energy && last.default_energy_uncertainty) {
    told.saved_part =
        Told::Part{.batch_size = one.batch_size,
                   .limit = *one.limit,
                   .value = 1.0 - *last.energy / *last.default_energy,
                   .half_width = std::hypot(last.default_energy_uncertainty->value(), last.uncertainty->value()) /
                                 last.default_energy->value()};
  }
}

// Of the recurrences that the statement is about.
void Witness::tell_savings(const records::JobView& view, Told& told) {
  if (!view.savings) {
    told.unknown = view.savings_unknown;
    return;
  }
  Cost of_default;
  Cost took;
  for (std::size_t number = 0; number < view.recurrences.size(); ++number) {
    if (view.recurrences[number].default_cost) {
      of_default = of_default + default_[number];
      took = took + took_[number];
    }
  }
  told.saved_cost = Statement{.said = {.value = view.savings->cost, .half_width = view.savings->cost_uncertainty},
                              .truth = weighed(script_, of_default) - weighed(script_, took),
                              .of_default = weighed(script_, of_default)};
  told.saved_energy = Statement{.said = {.value = view.savings->energy, .half_width = view.savings->energy_uncertainty},
                                .truth = of_default.energy - took.energy,
                                .of_default = of_default.energy};
}

std::optional<double> Witness::student() const {
  double squares = 0.0;
  std::size_t freedom = 0;
  for (const std::vector<int>& runs : epochs_) {
    const double mean = std::accumulate(runs.begin(), runs.end(), 0.0) / static_cast<double>(runs.size());
    for (const int run : runs) {
      squares += (run / mean - 1.0) * (run / mean - 1.0);
    }
    freedom += runs.empty() ? 0 : runs.size() - 1;
  }
  const std::size_t of_default = epochs_.at(now_.usual).size();
  if (freedom == 0 || of_default == 0) {
    return std::nullopt;
  }
  const Arm& usual = now_.arms[now_.usual];
  const Joules whole = weighed(now_, expected_default(now_));
  const Joules epochs = weighed(now_, of_epoch(now_, usual, now_.gpu.limits.max)) * expected_epochs(now_, usual);
  return student_quantile(static_cast<int>(freedom)) * std::sqrt(squares / static_cast<double>(freedom * of_default)) *
         (epochs / whole);
}

std::size_t Witness::arm_of(int batch_size) const {
  const auto found = std::ranges::find(now_.arms, batch_size, &Arm::batch_size);
  return now_.chooses_batch_size ? static_cast<std::size_t>(found - now_.arms.begin()) : now_.usual;
}

}  // namespace zeus::truth
