#include "optimize/batch_size/zeus_policy.hpp"

#include "base/random.hpp"
#include "records/energy.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {

// A try that was not allowed a single epoch cost nothing, but must not look cheap: it counts as this many times beta
// times the least cost so far.
constexpr double forbidden_cost = 100.0;
// Half of a 95 % interval, in standard deviations.

}  // namespace

ZeusPolicy::ZeusPolicy(const JobSpec& spec, Pruning pruning)
    : spec_{spec}, prunes_{pruning == Pruning::on}, best_arm_{spec.default_arm()} {
  arms_.resize(
      spec.arms(),
      Arm{.explorations = std::vector<Exploration>(rounds()), .belief = ThompsonArm{spec.window}, .epoch_cost = {}});
  if (spec.zeus.prior_precision > 0.0) {
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      arms_[arm].belief.set_prior({.batch_size = spec.batch_sizes[arm],
                                   .mean = spec.zeus.prior_cost,
                                   .deviation = Joules{1.0 / std::sqrt(spec.zeus.prior_precision)}});
    }
  }
  for (const PriorBelief& prior : spec.priors) {
    arms_[spec.arm_of(prior.batch_size)].belief.set_prior(prior);
  }
  if (rounds() == 0) {
    settle_pruning();
  }
}

void ZeusPolicy::apply(const records::JobEvent& event, const ProfileBook& profiles) {
  if (const auto* submitted = std::get_if<records::TrySubmitted>(&event)) {
    if (submitted->plan.purpose == records::TryPurpose::explore) {
      Arm& arm = arms_[spec_.arm_of(submitted->plan.batch_size)];
      arm.explored = std::min(arm.explored + 1, rounds());
      arm.exploring = submitted->try_number;
    }
  } else if (const auto* ended = std::get_if<records::TryEnded>(&event)) {
    end_try(*ended, profiles);
  } else if (const auto* profiled = std::get_if<records::LimitsProfiled>(&event)) {
    translate(profiles, spec_.arm_of(profiled->batch_size));
  } else if (const auto* seen = std::get_if<records::EpochSeen>(&event)) {
    // Only the cost of an epoch is updated; the costs of whole runs stay.
    arms_[spec_.arm_of(seen->batch_size)].epoch_cost = profiles.epoch_cost(spec_.arm_of(seen->batch_size));
  } else if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    moved_ = true;
    best_cost_.reset();
    spec_.move_to(*changed);
  }
}

// Section 7 of the paper: a cost seen on other devices is converted to what its epochs cost on these.
void ZeusPolicy::translate(const ProfileBook& profiles, std::size_t arm) {
  const Joules now = profiles.epoch_cost(arm);
  Arm& known = arms_[arm];
  if (known.epoch_cost > Joules{} && now != known.epoch_cost) {
    known.belief.scale(now / known.epoch_cost);
    for (Exploration& exploration : known.explorations) {
      exploration.cost *= now / known.epoch_cost;
    }
  }
  known.epoch_cost = now;
}

void ZeusPolicy::end_try(const records::TryEnded& ended, const ProfileBook& profiles) {
  const std::size_t index = spec_.arm_of(ended.batch_size);
  Arm& arm = arms_[index];
  const bool exploration = arm.explored > 0 && arm.exploring == ended.try_number;
  if (ended.outcome == records::TryOutcome::lost) {
    if (exploration) {
      --arm.explored;
    }
    return;
  }
  Joules cost = profiles.cost().of(ended.energy, ended.time);
  if (ended.epochs == 0 && best_cost_) {
    cost = forbidden_cost * spec_.beta * *best_cost_;
  }
  if (exploration) {
    arm.explorations[arm.explored - 1] = {.ended = true, .reached = reached(ended.outcome), .cost = cost};
  }
  if (reached(ended.outcome) && (!best_cost_ || cost < *best_cost_)) {
    best_cost_ = cost;
    best_arm_ = index;
  }
  arm.belief.observe(cost);
  if (exploring_ && exploration) {
    settle_pruning();
  }
}

void ZeusPolicy::settle_pruning() {
  const Walk state = walk();
  if (state.explore || state.waiting) {
    return;
  }
  exploring_ = false;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    arms_[arm].kept = rounds() == 0 || std::ranges::find(state.kept, arm) != state.kept.end();
  }
  if (rounds() > 0 && state.kept.empty()) {
    // Every batch size failed in some round. Those that have ever reached the target stay candidates.
    for (Arm& arm : arms_) {
      arm.kept = std::ranges::any_of(arm.explorations, &Exploration::reached);
    }
    arms_[best_arm_].kept = true;
  }
}

ZeusPolicy::Walk ZeusPolicy::walk() const {
  Walk state;
  std::size_t start = spec_.default_arm();
  std::vector<std::size_t>& kept = state.kept;
  std::vector<bool> in_play(arms_.size(), true);
  for (std::size_t round = 0; round < rounds(); ++round) {
    kept.clear();
    std::optional<std::size_t> cheapest;
    // Visits one arm. Returns false if the direction ends there, or the whole walk.
    const auto visit = [&](std::size_t index) {
      const Arm& arm = arms_[index];
      if (arm.explored <= round) {
        state.explore = index;
        return false;
      }
      const Exploration& exploration = arm.explorations[round];
      if (!exploration.ended) {
        state.waiting = true;
        return false;
      }
      if (prunes_ && !exploration.reached) {
        return false;
      }
      kept.push_back(index);
      if (exploration.reached && (!cheapest || exploration.cost < arms_[*cheapest].explorations[round].cost)) {
        cheapest = index;
      }
      return true;
    };
    bool going = true;
    for (std::size_t index = start + 1; going && index-- > 0;) {
      going = !in_play[index] || visit(index);
    }
    going = !state.explore && !state.waiting;
    for (std::size_t index = start + 1; going && index < arms_.size(); ++index) {
      going = !in_play[index] || visit(index);
    }
    if (state.explore || state.waiting || !cheapest) {
      return state;
    }
    start = *cheapest;
    in_play.assign(arms_.size(), false);
    for (const std::size_t index : kept) {
      in_play[index] = true;
    }
  }
  return state;
}

std::size_t ZeusPolicy::sample(std::uint64_t number) const {
  // A window that remembers fewer costs needs only as many.
  const std::size_t wanted =
      spec_.window == 0 ? spec_.zeus.explorations : std::min(spec_.zeus.explorations, spec_.window);
  std::size_t chosen = best_arm_;
  std::optional<double> least;
  for (std::size_t index = 0; index < arms_.size(); ++index) {
    const Arm& arm = arms_[index];
    if (!arm.kept) {
      continue;
    }
    if (arm.belief.count() < wanted || !arm.belief.believes()) {
      return index;
    }
    const double draw = Random{spec_.seed, number, static_cast<std::uint32_t>(index)}.normal(
        arm.belief.mean().value(), arm.belief.deviation().value());
    if (!least || draw < *least) {
      least = draw;
      chosen = index;
    }
  }
  return chosen;
}

std::vector<std::optional<CostBelief>> ZeusPolicy::beliefs(const ProfileBook&) const {
  std::vector<std::optional<CostBelief>> all;
  for (const Arm& arm : arms_) {
    if (!arm.belief.believes()) {
      all.emplace_back();
      continue;
    }
    const Joules reach = records::normal_95 * arm.belief.deviation();
    all.emplace_back(
        CostBelief{.expected = arm.belief.mean(), .low = arm.belief.mean() - reach, .high = arm.belief.mean() + reach});
  }
  return all;
}

Decision ZeusPolicy::decide(const Question& question, const ProfileBook& profiles) const {
  if (moved_) {
    // The costs from the former devices can be converted once the cost of an epoch is known here.
    for (std::size_t index = 0; index < arms_.size(); ++index) {
      if (arms_[index].epoch_cost > Joules{} && !profiles.profiled(index)) {
        return ProfileLimits{.arm = index, .limits = spec_.power_limits};
      }
    }
  }
  if (!exploring_) {
    return RunTry{.arm = sample(question.number), .limit = {}, .max_epochs = {}};
  }
  const Walk state = walk();
  if (state.explore) {
    return RunTry{.arm = *state.explore, .limit = {}, .max_epochs = {}, .purpose = records::TryPurpose::explore};
  }
  return RunTry{.arm = best_arm_, .limit = {}, .max_epochs = {}, .purpose = records::TryPurpose::concurrent};
}

}  // namespace zeus::optimize
