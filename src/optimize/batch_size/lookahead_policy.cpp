#include "optimize/batch_size/lookahead_policy.hpp"

#include "base/portable_math.hpp"
#include "optimize/batch_size/exploratory_run.hpp"
#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {
// Half of a 95 % interval, in standard deviations.
// The standard deviation of rounding to whole epochs, in epochs.
constexpr double rounding_deviation = 0.28867513459481287;

// The start cost of any run. Until one is seen it counts as 0, the same at every batch size.
Joules start_of(const ProfileBook& profiles) {
  return profiles.start_cost().value_or(Joules{});
}

std::vector<double> octaves_of(const JobSpec& spec) {
  std::vector<double> octaves;
  for (const int batch_size : spec.batch_sizes) {
    octaves.push_back(portable::log2(static_cast<double>(batch_size) / spec.default_batch_size));
  }
  return octaves;
}

}  // namespace

LookaheadPolicy::LookaheadPolicy(const JobSpec& spec, const LookaheadTuning& tuning)
    : tuning_{tuning},
      spec_{spec},
      octaves_{octaves_of(spec)},
      evidence_(spec.arms()),
      recent_(spec.arms()),
      expected_(spec.arms()),
      belief_{octaves_, tuning.epochs},
      change_{tuning.change},
      unread_(spec.arms(), 0.0),
      seen_(spec.arms(), 0),
      running_(spec.arms(), 0) {
}

void LookaheadPolicy::apply(const records::JobEvent& event, const ProfileBook&) {
  if (const auto* submitted = std::get_if<records::TrySubmitted>(&event)) {
    ++running_[spec_.arm_of(submitted->plan.batch_size)];
  } else if (const auto* ended = std::get_if<records::TryEnded>(&event)) {
    end_try(*ended);
  } else if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    spec_.move_to(*changed);
  }
}

// The belief is not stored: it is computed again from the evidence that it was fitted to.
void LookaheadPolicy::restore(StateReader& reader) {
  state(reader, *this);
  if (evidence_.size() != spec_.arms() || recent_.size() != spec_.arms() || expected_.size() != spec_.arms() ||
      (!fitted_.empty() && fitted_.size() != spec_.arms()) || former_.size() != former_expected_.size() ||
      (!former_.empty() && former_.size() != spec_.arms()) || unread_.size() != spec_.arms() ||
      seen_.size() != spec_.arms() || running_.size() != spec_.arms()) {
    throw Error{ErrorKind::corrupt_data, "this is the state of a policy for another number of batch sizes"};
  }
  if (!fitted_.empty()) {
    belief_.fit(fitted_);
  }
}

// Old runs say little about a job that has changed, but more than nothing. The epochs of each batch size are assumed to
// have moved by about as much as those of the runs that revealed the change. These runs themselves are kept in full.
void LookaheadPolicy::age() {
  double squares = 0.0;
  double moved = 0.0;
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    if (recent_[arm].count > 0.0 && expected_[arm].variance > 0.0) {
      const double distance = recent_[arm].mean - expected_[arm].log_epochs;
      squares += distance * distance;
      moved += 1.0;
    }
  }
  const double least = tuning_.change.distance * tuning_.change.distance;
  const double drift = moved > 0.0 ? std::max(least, squares / moved) : least;
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    EpochEvidence& known = evidence_[arm];
    if (recent_[arm].count > 0.0) {
      known = recent_[arm];
    } else {
      known.drift += drift;
      known.censored = recent_[arm].censored;
      known.bound = recent_[arm].bound;
      known.missed = recent_[arm].missed;
    }
  }
}

LookaheadPolicy::Expectation LookaheadPolicy::believed(std::size_t arm, double noise) const {
  const double expected = belief_.mean(arm);
  const double rounding = rounding_deviation * portable::exp(-expected);
  return {.log_epochs = expected, .variance = belief_.variance(arm) + noise + rounding * rounding};
}

LookaheadPolicy::Expectation LookaheadPolicy::expectation(std::size_t arm) const {
  const EpochEvidence& known = evidence_[arm];
  if (known.count == 0.0 || known.drift > 0.0) {
    return {};
  }
  // The belief knows a few levels of noise; the runs of this arm may scatter more than the likeliest level.
  return believed(arm, std::max(belief_.noise(arm), (known.jumps + belief_.noise(arm)) / known.count));
}

bool LookaheadPolicy::takes_back(std::size_t arm, double log_epochs, double scatter) {
  const auto density = [this, log_epochs](const Expectation& of) {
    return change_.log_density(log_epochs - of.log_epochs, of.variance);
  };
  if (former_.empty() || former_expected_[arm].variance <= 0.0) {
    return false;
  }
  odds_ += density(believed(arm, std::max(belief_.noise(arm), scatter))) - density(former_expected_[arm]);
  return odds_ < 0.0;
}

void LookaheadPolicy::learn(EpochEvidence& known, records::TryOutcome outcome, double log_epochs) const {
  if (!records::reached(outcome)) {
    known.bound = known.censored > 0.0 ? std::max(known.bound, log_epochs) : log_epochs;
    known.censored += 1.0;
    known.missed += outcome == records::TryOutcome::exhausted ? 1.0 : 0.0;
    return;
  }
  if (known.drift > 0.0) {
    known = EpochEvidence{.censored = known.censored, .bound = known.bound, .missed = known.missed};
  }
  const auto window = static_cast<double>(spec_.window);
  if (spec_.window > 0 && known.count >= window) {
    known.squares *= (window - 1.0) / known.count;
    known.jumps *= (window - 1.0) / known.count;
    known.missed *= (window - 1.0) / known.count;
    known.count = window - 1.0;
  }
  known.count += 1.0;
  const double jump = known.count > 1.0 ? log_epochs - known.latest : 0.0;
  known.jumps += 0.5 * jump * jump;
  known.latest = log_epochs;
  const double step = log_epochs - known.mean;
  known.mean += step / known.count;
  known.squares += step * (log_epochs - known.mean);
}

void LookaheadPolicy::end_try(const records::TryEnded& ended) {
  const std::size_t arm = spec_.arm_of(ended.batch_size);
  running_[arm] = std::max(running_[arm] - 1, 0);
  if (ended.outcome == records::TryOutcome::lost) {
    return;
  }
  seen_[arm] = recurrences_;
  const bool reached = records::reached(ended.outcome);
  recurrences_ += reached ? 1 : 0;
  // A run that was stopped is no surprise if the policy hoped for fewer epochs than usual, so only the epochs that it
  // ran count.
  const double log_epochs = portable::log(static_cast<double>(ended.epochs) + (reached ? 0.0 : 0.5));
  if (change_.calm()) {
    std::ranges::fill(recent_, EpochEvidence{});
    for (std::size_t other = 0; other < spec_.arms(); ++other) {
      expected_[other] = expectation(other);
    }
  }
  // Runs that scatter more than the belief expected do not by that reveal a change. Each change counts once in the
  // jumps.
  const EpochEvidence& earlier = evidence_[arm];
  const double scatter = earlier.count > 0.0 ? earlier.jumps / earlier.count : 0.0;
  const bool back = reached && takes_back(arm, log_epochs, scatter);
  learn(evidence_[arm], ended.outcome, log_epochs);
  learn(recent_[arm], ended.outcome, log_epochs);
  if (!former_.empty()) {
    learn(former_[arm], ended.outcome, log_epochs);
  }
  const Expectation& expected = expected_[arm];
  const double distance = log_epochs - expected.log_epochs;
  const bool changed = !back && expected.variance > 0.0 && (reached || distance > 0.0) &&
                       change_.observe(distance, std::max(expected.variance, scatter));
  if (changed) {
    former_ = evidence_;
    former_expected_ = expected_;
    odds_ = tuning_.change.alarm;
    age();
  }
  if (back) {
    evidence_ = former_;
    former_.clear();
    former_expected_.clear();
    change_ = ChangeDetector{tuning_.change};
  }
  // One more run among many similar ones changes little: the belief is computed again only after enough new runs.
  ++unread_[arm];
  const EpochEvidence& known = evidence_[arm];
  if (changed || back || unread_[arm] > (known.count + known.censored) * tuning_.news) {
    fitted_ = evidence_;
    belief_.fit(fitted_);
    std::ranges::fill(unread_, 0.0);
  }
}

std::optional<Watts> LookaheadPolicy::limit_to_measure(const ProfileBook& profiles, std::size_t arm) const {
  const std::vector<Watts>& all = spec_.power_limits;
  const auto cheapest = std::ranges::lower_bound(all, profiles.best(arm).limit);
  if (cheapest != all.begin() && profiles.find(arm, *(cheapest - 1)) == nullptr) {
    return *(cheapest - 1);
  }
  if (cheapest + 1 < all.end() && profiles.find(arm, *(cheapest + 1)) == nullptr) {
    return *(cheapest + 1);
  }
  return std::nullopt;
}

std::optional<std::vector<LookaheadPolicy::EpochCost>> LookaheadPolicy::epoch_costs(const ProfileBook& profiles) const {
  std::vector<EpochCost> costs(spec_.arms());
  std::vector<std::size_t> known;
  for (std::size_t arm = 0; arm < costs.size(); ++arm) {
    if (profiles.profiled(arm)) {
      costs[arm] = {.log_cost = portable::log(profiles.epoch_cost(arm).value()),
                    .deviation = limit_to_measure(profiles, arm) ? tuning_.limit_spread : 0.0,
                    .measured = true};
      known.push_back(arm);
    }
  }
  if (known.empty()) {
    return std::nullopt;
  }
  for (std::size_t arm = 0; arm < costs.size(); ++arm) {
    if (costs[arm].measured) {
      continue;
    }
    const auto above = std::ranges::find_if(known, [arm](std::size_t other) { return other > arm; });
    if (above == known.begin()) {
      const double gap = octaves_[*above] - octaves_[arm];
      costs[arm].log_cost = costs[*above].log_cost + tuning_.cost_per_octave_down * gap;
      costs[arm].deviation = tuning_.cost_spread * gap;
    } else if (above == known.end()) {
      const double gap = octaves_[arm] - octaves_[known.back()];
      costs[arm].log_cost = costs[known.back()].log_cost + tuning_.cost_per_octave_up * gap;
      costs[arm].deviation = tuning_.cost_spread * gap;
    } else {
      // The cost of an epoch is convex in the batch size: it falls with the number of steps, because each step has its
      // own cost, or it rises with the size of a step.
      const std::size_t below = *(above - 1);
      const bool falls = costs[*above].log_cost < costs[below].log_cost;
      const auto place = [this, falls](std::size_t of) {
        const double size = spec_.batch_sizes[of];
        return falls ? 1.0 / size : size;
      };
      const double share = (place(arm) - place(*above)) / (place(below) - place(*above));
      costs[arm].log_cost = portable::log(share * portable::exp(costs[below].log_cost) +
                                          (1.0 - share) * portable::exp(costs[*above].log_cost));
      const double whole = octaves_[*above] - octaves_[below];
      const double part = octaves_[arm] - octaves_[below];
      costs[arm].deviation = tuning_.cost_spread * std::sqrt(part * (whole - part) / whole) * 0.5;
    }
  }
  return costs;
}

// Measures the limits of an arm, if that pays, before it runs or during its first epoch, whichever is cheaper.
// Otherwise the arm runs without.
Decision LookaheadPolicy::run(RunTry attempt, double horizon, const ProfileBook& profiles) const {
  const std::size_t arm = attempt.arm;
  const std::vector<Watts>& all = spec_.power_limits;
  const auto known = profiles.limits(arm);
  if (known.size() >= all.size()) {
    return attempt;
  }
  if (known.empty()) {
    return ProfileLimits{.arm = arm, .limits = {all.back()}};
  }
  std::vector<Watts> missing;
  for (const Watts limit : all) {
    if (profiles.find(arm, limit) == nullptr) {
      missing.push_back(limit);
    }
  }
  const Seconds epoch = profiles.best(arm).epoch_time;
  const double slice = std::min(tuning_.profiling_time / epoch, 1.0 / static_cast<double>(all.size()));
  const double beforehand = slice * static_cast<double>(missing.size());
  const double epochs = portable::exp(belief_.mean(arm));
  if (std::min(beforehand, tuning_.profiling_epoch) > tuning_.limits_gain * horizon * epochs) {
    return attempt;
  }
  const bool may_not_stay =
      attempt.purpose == records::TryPurpose::explore && evidence_[arm].count == 0.0 && recurrences_ > 0;
  if (may_not_stay && std::min(beforehand, tuning_.profiling_epoch) > tuning_.limits_gain * epochs) {
    return attempt;
  }
  if (beforehand <= tuning_.profiling_epoch) {
    return ProfileLimits{.arm = arm, .limits = missing};
  }
  attempt.profile = true;
  return attempt;
}

double LookaheadPolicy::expected_cost(std::size_t arm, const EpochCost& epoch) const {
  const EpochEvidence& known = evidence_[arm];
  const double spread = belief_.variance(arm) + belief_.noise(arm);
  const double epochs = portable::exp(belief_.mean(arm) + 0.5 * spread);
  const double wasted = wasted_epochs(known.count, known.missed, belief_.mean(arm), spread, spec_.max_epochs);
  return portable::exp(epoch.log_cost) * (epochs + wasted);
}

std::optional<LookaheadPolicy::Incumbent> LookaheadPolicy::incumbent(const ProfileBook& profiles,
                                                                     const std::vector<EpochCost>& costs) const {
  std::optional<Incumbent> best;
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    if (evidence_[arm].count > 0.0 && costs[arm].measured) {
      const double cost = expected_cost(arm, costs[arm]);
      if (!best || cost < best->cost) {
        const double deviation = std::sqrt(belief_.variance(arm) + belief_.noise(arm));
        best = Incumbent{.arm = arm,
                         .cost = cost,
                         .usual = portable::exp(costs[arm].log_cost + belief_.mean(arm) + deviation),
                         .start = start_of(profiles).value()};
      }
    }
  }
  return best;
}

std::vector<std::optional<CostBelief>> LookaheadPolicy::beliefs(const ProfileBook& profiles) const {
  std::vector<std::optional<CostBelief>> all(spec_.arms());
  const std::optional<std::vector<EpochCost>> costs = epoch_costs(profiles);
  if (!costs || std::ranges::none_of(evidence_, [](const EpochEvidence& known) { return known.count > 0.0; })) {
    return all;
  }
  for (std::size_t arm = 0; arm < all.size(); ++arm) {
    const EpochCost& cost = (*costs)[arm];
    const double spread = belief_.variance(arm) + cost.deviation * cost.deviation;
    const double centre = cost.log_cost + belief_.mean(arm) + 0.5 * belief_.noise(arm);
    const double reach = records::normal_95 * std::sqrt(spread);
    all[arm] =
        CostBelief{.expected = start_of(profiles) + Joules{portable::exp(centre + 0.5 * spread)},
                   .low = start_of(profiles) + Joules{portable::exp(centre - reach)},
                   .high = start_of(profiles) + Joules{portable::exp(centre + reach)},
                   .epochs = portable::exp(belief_.mean(arm) + 0.5 * (belief_.variance(arm) + belief_.noise(arm)))};
  }
  return all;
}

// A batch size that has not run for so long that it is due for another look: what was learned of it may no longer hold,
// or never did. The more a look costs, including runs that miss the target, the longer it waits; the most overdue batch
// size comes first.
std::optional<std::size_t> LookaheadPolicy::look_due(const Incumbent& best, const std::vector<EpochCost>& costs) const {
  std::optional<std::size_t> due;
  double least = 0.0;
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    if (arm == best.arm || running_[arm] > 0) {
      continue;
    }
    const double cost = expected_cost(arm, costs[arm]);
    const auto unseen = static_cast<double>(recurrences_ - seen_[arm]);
    const double extra = (cost + best.start) / (best.cost + best.start) - 1.0;
    const double balance = std::max(0.0, extra) + tuning_.least_look - tuning_.curiosity * unseen;
    if (balance < least) {
      due = arm;
      least = balance;
    }
  }
  return due;
}

// If nothing has reached the target yet: the batch size with the fewest misses, then the one nearest to the default,
// then the smaller one, which rarely needs more epochs.
std::size_t LookaheadPolicy::least_missed() const {
  std::size_t best = spec_.default_arm();
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    const double fewer = evidence_[best].censored - evidence_[arm].censored;
    const double nearer = std::fabs(octaves_[best]) - std::fabs(octaves_[arm]);
    if (fewer > 0.0 || (fewer == 0.0 && nearer > 0.0)) {
      best = arm;
    }
  }
  return best;
}

ExploratoryValue LookaheadPolicy::trial_of(std::size_t arm, double epoch_cost, const Incumbent& incumbent,
                                           const Question& question, double horizon) const {
  double most = spec_.max_epochs;
  if (question.best) {
    const double budget = spec_.beta * std::max(question.best->value(), incumbent.cost + incumbent.start);
    most = std::min(most, std::floor(std::max(0.0, budget - incumbent.start) / epoch_cost));
  }
  return value_of({.arm = arm,
                   .epoch_cost = epoch_cost,
                   .fallback = incumbent.cost,
                   .start = incumbent.start,
                   .horizon = horizon,
                   .most_epochs = static_cast<int>(most),
                   .allowed_epochs = spec_.max_epochs,
                   .reached = evidence_[arm].count,
                   .missed = evidence_[arm].missed},
                  belief_);
}

bool LookaheadPolicy::worth_a_thought(std::size_t arm, double log_cost, const Incumbent& incumbent,
                                      double horizon) const {
  return arm != incumbent.arm && running_[arm] == 0 &&
         possible_improvement(belief_, arm, log_cost, incumbent.cost) * horizon >=
             tuning_.least_improvement * (incumbent.cost + incumbent.start);
}

// The trial with the highest value; the incumbent, with all the epochs that the job allows, if no trial is worth its
// cost.
LookaheadPolicy::Gamble LookaheadPolicy::best_gamble(const Incumbent& incumbent, const std::vector<EpochCost>& costs,
                                                     const Question& question, double horizon) const {
  Gamble best{.arm = incumbent.arm, .max_epochs = spec_.max_epochs};
  double most_value = 0.0;
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    const double log_cost = costs[arm].log_cost - costs[arm].deviation;
    if (!worth_a_thought(arm, log_cost, incumbent, horizon)) {
      continue;
    }
    const ExploratoryValue trial = trial_of(arm, portable::exp(log_cost), incumbent, question, horizon);
    if (trial.value > most_value) {
      best = {.arm = arm, .max_epochs = trial.max_epochs};
      most_value = trial.value;
    }
  }
  return best;
}

// If no trial pays at the assumed cost of epochs: the arm whose epoch cost is worth measuring. A measurement is cheap,
// and epochs may prove so much cheaper that a trial pays. The value of that trial is averaged over the uncertainty of
// the cost with three-point Gauss-Hermite quadrature; at two of the points it is 0.
std::optional<std::size_t> LookaheadPolicy::worth_measuring(const Incumbent& incumbent,
                                                            const std::vector<EpochCost>& costs,
                                                            const Question& question, double horizon,
                                                            Seconds epoch_time) const {
  constexpr double far = 1.7320508075688772;  // standard deviations
  constexpr double share = 1.0 / 6.0;
  const double price_in_epochs = std::min(tuning_.profiling_time / epoch_time, 1.0);
  std::optional<std::size_t> best;
  double most_value = 0.0;
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    const double log_cost = costs[arm].log_cost - far * costs[arm].deviation;
    if (costs[arm].measured || !worth_a_thought(arm, log_cost, incumbent, horizon)) {
      continue;
    }
    const double epoch_cost = portable::exp(log_cost);
    const double value = share * trial_of(arm, epoch_cost, incumbent, question, horizon).value -
                         (incumbent.start + price_in_epochs * epoch_cost);
    if (value > most_value) {
      best = arm;
      most_value = value;
    }
  }
  return best;
}

Decision LookaheadPolicy::decide(const Question& question, const ProfileBook& profiles) const {
  // On new devices the knowledge of epochs still holds. The cost of an epoch is measured there for each arm that has
  // reached the target.
  for (std::size_t arm = 0; arm < spec_.arms(); ++arm) {
    if (evidence_[arm].count > 0.0 && !profiles.profiled(arm)) {
      return ProfileLimits{.arm = arm, .limits = spec_.power_limits};
    }
  }
  const std::optional<std::vector<EpochCost>> costs = epoch_costs(profiles);
  const std::optional<Incumbent> best_known = costs ? incumbent(profiles, *costs) : std::nullopt;
  if (!best_known) {
    return run({.arm = least_missed(), .limit = {}, .max_epochs = {}, .purpose = records::TryPurpose::explore},
               tuning_.least_horizon, profiles);
  }
  const double horizon = std::max(tuning_.least_horizon, static_cast<double>(recurrences_));
  // One gamble for each recurrence: after a failed try the incumbent runs.
  const Gamble gamble = question.tries == 0 ? best_gamble(*best_known, *costs, question, horizon)
                                            : Gamble{.arm = best_known->arm, .max_epochs = spec_.max_epochs};
  std::size_t chosen = gamble.arm;
  if (chosen == best_known->arm && question.tries == 0) {
    const records::LimitProfile& profile = profiles.best(chosen);
    if (const auto arm = worth_measuring(*best_known, *costs, question, horizon, profile.epoch_time)) {
      return ProfileLimits{.arm = *arm, .limits = {profile.limit}};
    }
  }
  if (chosen == best_known->arm && question.tries == 0) {
    chosen = look_due(*best_known, *costs).value_or(chosen);
  }
  if (chosen == best_known->arm) {
    return run(
        {.arm = chosen, .limit = {}, .max_epochs = {}, .usual_cost = Joules{best_known->start + best_known->usual}},
        horizon, profiles);
  }
  if (!(*costs)[chosen].measured) {
    return ProfileLimits{.arm = chosen, .limits = {profiles.best(best_known->arm).limit}};
  }
  if (const std::optional<Watts> limit = limit_to_measure(profiles, chosen)) {
    return ProfileLimits{.arm = chosen, .limits = {*limit}};
  }
  return run({.arm = chosen,
              .limit = {},
              .max_epochs = gamble.max_epochs,
              .purpose = records::TryPurpose::explore,
              .usual_cost = Joules{best_known->start + best_known->cost}},
             horizon, profiles);
}

}  // namespace zeus::optimize
