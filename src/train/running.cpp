#include "train/running.hpp"

#include "optimize/power_limit/goal.hpp"
#include "train/epoch_exchange.hpp"
#include "train/profile_file.hpp"
#include "train/result_file.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace zeus::train {

namespace {

constexpr Seconds last_settling{1};
// Before it is said that nobody tells of steps.
constexpr std::uint64_t epochs_without_steps = 3;

std::vector<int> indices_of(const GpuGroup& group) {
  std::vector<int> indices;
  for (const SessionGpu& one : group.gpus()) {
    indices.push_back(one.index);
  }
  return indices;
}

void check(const TrainingOptions& options) {
  check_ending(options);
  static_cast<void>(optimize::selector_of(options.goal, Watts{1}));
  static_cast<void>(optimize::EnergyTimeCost{options.eta, Watts{1}});
  if (!(options.lease_term > Seconds{0}) || !(options.collective_patience > Seconds{0}) ||
      !(options.drift_tolerance >= 0)) {
    throw Error{ErrorKind::invalid_argument, "a time or a tolerance among the options of the training makes no sense",
                "give a lease term and a patience above 0, and a drift tolerance of at least 0"};
  }
  if (!(options.limit_step > Watts{0})) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the step between power limits is {} W", options.limit_step.value()),
                "give one above 0, such as 25 W"};
  }
}

}  // namespace

Running::Running(SessionParts parts, const TrainingOptions& options)
    : options_{parts.outer ? parts.outer->complete(options) : options},
      target_is_its_own_{options.target.has_value()},
      clock_{parts.clock},
      meter_{std::move(parts.meter)},
      outer_{std::move(parts.outer)},
      herald_{options.listener},
      ranks_{options.collective, options.collective_patience},
      group_{std::move(parts.gpus), std::move(parts.acquire), options.lease_term} {
  check(options_);
  std::string why;
  bool led = false;
  try {
    led = led_by_a_run();
    fleet_ = survey(group_, ranks_);
  } catch (const AgreedFailure& error) {
    why = error.what();
    fleet_ = survey(group_, ranks_);
  }
  if (fleet_->gpus > 0 && fleet_->max_power > Watts{0}) {
    price_.emplace(options_.eta, fleet_->max_power);
  }
  Meter* const meter = group_.size() > 0 ? meter_.get() : nullptr;
  account_.emplace(meter, indices_of(group_), clock_, herald_);
  tuner_ = std::make_unique<Tuner>(Tuner::Parts{.options = options_,
                                                .group = group_,
                                                .meter = meter,
                                                .ranks = ranks_,
                                                .account = *account_,
                                                .herald = herald_,
                                                .clock = clock_},
                                   *fleet_);
  if (!why.empty()) {
    tuner_->stop(why);
  } else if (led) {
    tuner_->leave("`zeus run` sets the power limits of this training");
  }
  if (options_.cost_limit && !price_) {
    herald_.warn("the cost limit is not held: without a GPU whose power limit can be read there is no cost");
  }
}

// Ranks of other machines may not see the run that leads those of this one.
bool Running::led_by_a_run() {
  std::array<double, 1> led{outer_ ? 1.0 : 0.0};
  if (!ranks_.leads()) {
    outer_.reset();
  }
  ranks_.max(led);
  return led[0] > 0;
}

void Running::require_unfinished(const char* what) const {
  if (finished_) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the training is finished, and was told of {}", what),
                "begin another one"};
  }
}

std::optional<records::PowerProfile> Running::known_profile() {
  if (options_.known_profile && options_.known_profile->batch_size == options_.batch_size) {
    return options_.known_profile;
  }
  if (options_.profile_file.empty() || !ranks_.leads()) {
    return std::nullopt;
  }
  try {
    const std::vector<records::PowerProfile> kept = read_profiles(options_.profile_file);
    if (const auto* found = find_profile(kept, fleet_->product, std::max(fleet_->gpus, 1U), options_.batch_size)) {
      return *found;
    }
  } catch (const std::exception& error) {
    herald_.warn(fmt::format("the profile file is left alone: {}", error.what()));
    options_.profile_file.clear();
  }
  return std::nullopt;
}

void Running::tune() {
  if (!tuner_->has_begun()) {
    known_ = known_profile();
    tuner_->begin(options_.batch_size, known_, {});
  } else {
    tuner_->begin_epoch();
  }
}

void Running::begin_epoch() {
  require_unfinished("another epoch");
  if (in_epoch_) {
    close_epoch();
  }
  tell_of_epoch();
  const bool first = !account_->is_open();
  account_->cut(Part::steps);
  if (!first) {
    // What came after the last epoch's end is still its; other ranks are told with the next epoch.
    tail_ = account_->take(Seconds{0});
    if (ranks_.alone()) {
      book(std::exchange(tail_, Parts{}));
    }
  }
  tune();
  tuned_at_begin_ = !tuner_->profiling();
  in_epoch_ = true;
  in_steps_ = true;
  in_step_ = false;
  stepping_ = Stepping::unknown;
  epoch_metric_.reset();
}

void Running::step_as(Stepping stepping) {
  require_unfinished("a step");
  if (!in_epoch_) {
    begin_epoch();
  }
  if (stepping_ != Stepping::unknown && stepping_ != stepping) {
    throw Error{ErrorKind::invalid_argument, "steps are told of in two ways within one epoch",
                "either mark their beginnings, or report progress"};
  }
  stepping_ = stepping;
  if (!in_steps_) {
    account_->enter(Part::steps);
    in_steps_ = true;
  }
}

void Running::boundary(std::uint64_t over) {
  count_steps(over);
  tuner_->step(over);
  if (ranks_.alone() && tuner_->drift()) {
    retune_after_drift();
  }
}

void Running::count_steps(std::uint64_t over) {
  account_->count_steps(over);
  if (outer_ && over > 0) {
    outer_->steps(over);
  }
}

// A metric that follows the end of an epoch is of that epoch; so it is told of with that, or when the next one begins.
void Running::tell_of_epoch() {
  if (std::exchange(epoch_untold_, false) && outer_) {
    outer_->epoch();
  }
}

void Running::begin_step() {
  step_as(Stepping::marked);
  boundary(std::exchange(in_step_, true) ? 1 : 0);
}

void Running::end_step() {
  // The step ends, for all that is measured, where the next one begins: so its data loading is part of it.
}

void Running::progress(std::uint64_t steps) {
  step_as(Stepping::seen);
  boundary(steps);
}

void Running::end_steps() {
  if (!in_steps_) {
    return;
  }
  const bool over = std::exchange(in_step_, false);
  if (over) {
    count_steps(1);
  }
  if (outer_) {
    outer_->flush();
  }
  in_steps_ = false;
  tuner_->end_steps(over);
  account_->enter(Part::rest);
}

void Running::end_epoch() {
  require_unfinished("the end of an epoch");
  if (in_epoch_) {
    close_epoch();
  }
}

void Running::close_epoch() {
  end_steps();
  in_epoch_ = false;
  epoch_untold_ = true;
  account_->cut(Part::rest);
  const Parts taken = account_->take(Seconds{0});
  if (!ranks_.alone() && !epochs_.empty()) {
    book(std::exchange(tail_, Parts{}));
  }
  epochs_.push_back({.number = epochs_.size() + 1, .metric = epoch_metric_, .profiled = tuner_->profiled()});
  epoch_parts_.emplace_back();
  book(taken);
  const EpochReport& report = epochs_.back();
  complain_of_silence(report);
  if (tuned_at_begin_ && !report.profiled && !tuner_->profiling()) {
    settled_epoch_ = report.cost;
  }
  herald_.tell(EpochEnded{.epoch = report});
}

// Adds what this process has taken, and the other ranks, to the latest epoch.
void Running::book(Parts taken) {
  bool trouble = !tuner_->trouble().empty();
  try {
    exchange(ranks_, taken, trouble);
  } catch (const AgreedFailure& error) {
    tuner_->stop(error.what());
  }
  if (trouble) {
    tuner_->stop(tuner_->trouble().empty() ? "another rank lost its lease" : tuner_->trouble());
  }
  epoch_parts_.back() = epoch_parts_.back() + taken;
  write_down(epochs_.back(), epoch_parts_.back());
}

void Running::complain_of_silence(const EpochReport& report) {
  silent_epochs_ = report.steps == 0 ? silent_epochs_ + 1 : 0;
  if (silent_epochs_ == epochs_without_steps && tuner_->why_not().empty() && !tuner_->holding() &&
      options_.mode != TrainingMode::passive) {
    herald_.warn(fmt::format("nothing can be profiled: no steps were reported in {} epochs", silent_epochs_));
  }
  if (target_is_its_own_ && !metric_ && epochs_.size() == 2) {
    herald_.warn("no metric was reported in two epochs: the target cannot be seen to be reached");
  }
}

std::optional<StopReason> Running::stop_reason() const {
  return stopped_by_ ? stopped_by_ : ending_of(options_, progress_so_far());
}

void Running::agree(std::vector<double>& decision) {
  try {
    ranks_.share(decision);
  } catch (const AgreedFailure& error) {
    tuner_->stop(error.what());
  }
}

bool Running::next_epoch() {
  require_unfinished("another epoch");
  if (in_epoch_) {
    close_epoch();
  }
  if (stopped_by_) {
    return false;
  }
  const Progress so_far = progress_so_far();
  std::optional<StopReason> reason = ending_of(options_, so_far);
  std::vector<double> decision{reason ? static_cast<double>(*reason) + 1 : 0.0, tuner_->drift() ? 1.0 : 0.0};
  agree(decision);
  if (decision.size() == 2 && decision[0] > 0) {
    stopped_by_ = static_cast<StopReason>(static_cast<int>(decision[0]) - 1);
    tell_of_epoch();
    herald_.tell(TrainingStopped{.reason = *stopped_by_,
                                 .cost = so_far.cost.value_or(Joules{0}),
                                 .next_epoch = so_far.next_cost.value_or(Joules{0})});
    return false;
  }
  if (decision.size() == 2 && decision[1] > 0) {
    retune_after_drift();
  }
  begin_epoch();
  return true;
}

void Running::retune_after_drift() {
  const double drift = tuner_->drift().value_or(1.0);
  settled_epoch_.reset();
  tuner_->begin(options_.batch_size, std::nullopt,
                fmt::format("steps have come to take {:.0f} % of what they took when they were profiled", 100 * drift));
}

void Running::set_target(const TrainingTarget& target) {
  require_unfinished("another target");
  TrainingOptions changed = options_;
  changed.target = target;
  check_ending(changed);
  if (!options_.target || options_.target->metric != target.metric ||
      options_.target->higher_is_better != target.higher_is_better) {
    options_.target = target;
    best_metric_ = metric_;
  }
}

void Running::report(double metric) {
  if (outer_) {
    outer_->metric(metric);
  }
  if (!in_epoch_) {
    tell_of_epoch();
  }
  if (!std::isfinite(metric)) {
    herald_.warn(fmt::format("a metric of {} was reported, which reaches no target", metric));
    return;
  }
  metric_ = metric;
  best_metric_ = options_.target && best_metric_ ? better(*options_.target, *best_metric_, metric) : metric;
  epoch_metric_ = metric;
  if (!in_epoch_ && !epochs_.empty()) {
    epochs_.back().metric = metric;
  }
}

void Running::set_batch_size(std::uint64_t batch_size) {
  require_unfinished("another batch size");
  if (options_.batch_size == batch_size) {
    return;
  }
  options_.batch_size = batch_size;
  settled_epoch_.reset();
  if (tuner_->has_begun() && !tuner_->holding()) {
    known_ = known_profile();
    tuner_->begin(options_.batch_size, known_, "the batch size has changed");
  }
}

void Running::hold(const PowerSetting& setting) {
  require_unfinished("a setting to hold");
  if (options_.mode != TrainingMode::optimize) {
    throw Error{ErrorKind::invalid_argument, "a training that only observes was told to hold a power setting",
                "let it optimize, or leave the setting as it is"};
  }
  settled_epoch_.reset();
  tuned_at_begin_ = false;
  tuner_->hold(setting);
}

void Running::finish(bool together) {
  if (std::exchange(finished_, true)) {
    return;
  }
  if (!together) {
    ranks_ = Ranks{};
  }
  if (in_epoch_) {
    close_epoch();
  }
  tell_of_epoch();
  const bool trained = account_->is_open();
  account_->close();
  tuner_->put_back();
  if (trained) {
    book(tail_ + account_->take(last_settling));
  }
  if (!stopped_by_) {
    stopped_by_ = ending_of(options_, progress_so_far());
  }
  if (ranks_.leads() && !options_.result_file.empty()) {
    try {
      write_result(options_.result_file, result());
    } catch (const std::exception& error) {
      herald_.warn(fmt::format("the result is not written: {}", error.what()));
    }
  }
}

}  // namespace zeus::train
