#include "train/session.hpp"

#include "optimize/power_limit/goal.hpp"
#include "optimize/power_limit/prediction.hpp"
#include "train/epoch_exchange.hpp"
#include "train/option_check.hpp"
#include "train/profile_file.hpp"
#include "train/result_file.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::train {

namespace {

constexpr Seconds last_settling{1};
// A warning follows after this many epochs in which no steps were reported.
constexpr std::uint64_t epochs_without_steps = 3;

std::optional<optimize::EnergyTimeCost> price_of(const TrainingOptions& options, const Fleet& fleet) {
  if (fleet.gpus == 0 || !(fleet.max_power > Watts{0})) {
    return std::nullopt;
  }
  return optimize::EnergyTimeCost{options.eta, fleet.max_power};
}

// What ranks decide between epochs.
struct Verdict {
  std::optional<StopReason> stop;
  bool drifted = false;

  void joined(Joining& join) {
    join.leaders(stop);
    join.leaders(drifted);
  }
};

struct Surroundings {
  bool led = false;

  void joined(Joining& join) { join.any(led); }
};

}  // namespace

Session::Session(SessionParts parts, const TrainingOptions& options)
    : options_{checked(parts.outer ? parts.outer->complete(options) : options)},
      target_is_its_own_{options.stopping.target.has_value()},
      owner_{::getpid()},
      clock_{parts.clock},
      meter_{std::move(parts.meter)},
      outer_{std::move(parts.outer)},
      reporter_{options.listener, options.warn},
      ranks_{options.collective, options.collective_patience},
      group_{std::move(parts.gpus), std::move(parts.acquire), options.lease_term},
      meeting_{meet()},
      account_{meter_of_this_rank(), group_.gpus(), clock_, reporter_},
      ledger_{price_of(options_, meeting_.fleet), meeting_.fleet.gpus > 0},
      tuner_{{.options = options_,
              .fleet = meeting_.fleet,
              .group = group_,
              .meter = meter_of_this_rank(),
              .ranks = ranks_,
              .account = account_,
              .reporter = reporter_,
              .clock = clock_,
              .may_end_soon = parts.may_end_soon}} {
  if (!meeting_.failure.empty()) {
    tuner_.stop(meeting_.failure);
  } else if (meeting_.led) {
    tuner_.leave("`zeus run` sets the power limits of this training");
  }
  if (options_.stopping.cost_limit && !ledger_.price()) {
    reporter_.warn("the cost limit has no effect: without a GPU whose power limit can be read there is no cost");
  }
}

Session::~Session() {
  if (!is_ours()) {
    return;
  }
  try {
    end(false);
  } catch (...) {
    // There is no caller left to report to, and a destructor must not throw.
  }
}

// False in a forked child, where calls have no effect.
bool Session::is_ours() const {
  return owner_ == ::getpid();
}

bool Session::takes(const char* what) const {
  if (is_ours() && phase_ == Phase::finished) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the training is finished, but {} was reported", what),
                "begin another one"};
  }
  return is_ours();
}

Session::Meeting Session::meet() {
  Meeting meeting;
  try {
    // Ranks on other machines may not see the run that leads those on this one.
    Surroundings surroundings{.led = outer_ != nullptr};
    if (!ranks_.leads()) {
      outer_.reset();
    }
    ranks_.agree(surroundings);
    meeting.led = surroundings.led;
    meeting.fleet = survey(group_, ranks_);
  } catch (const AgreedFailure& error) {
    meeting.failure = error.what();
    meeting.fleet = survey(group_, ranks_);
  }
  return meeting;
}

// Null if lower ranks speak for all of this rank's GPUs.
Meter* Session::meter_of_this_rank() const {
  return group_.size() > 0 ? meter_.get() : nullptr;
}

std::optional<records::PowerProfile> Session::read_known_profile() {
  if (options_.profiling.known && options_.profiling.known->batch_size == options_.batch_size) {
    return options_.profiling.known;
  }
  if (options_.files.profiles.empty() || !ranks_.leads()) {
    return std::nullopt;
  }
  try {
    const std::vector<records::PowerProfile> kept = read_profiles(options_.files.profiles);
    if (const auto* found =
            find_profile(kept, meeting_.fleet.product, std::max(meeting_.fleet.gpus, 1U), options_.batch_size)) {
      return *found;
    }
  } catch (const std::exception& error) {
    reporter_.warn(fmt::format("the profile file is left alone: {}", error.what()));
    options_.files.profiles.clear();
  }
  return std::nullopt;
}

bool Session::in_epoch() const {
  return phase_ == Phase::steps || phase_ == Phase::step || phase_ == Phase::rest;
}

void Session::begin_epoch() {
  if (!takes("another epoch")) {
    return;
  }
  if (in_epoch()) {
    close_epoch();
  }
  tell_of_epoch();
  const bool first = !account_.is_open();
  account_.cut(Part::steps);
  if (!first) {
    // What came after the end of the last epoch still belongs to it; other ranks learn of it with the next epoch.
    tail_ = account_.take(Seconds{0});
    if (ranks_.alone()) {
      book(std::exchange(tail_, Parts{}));
    }
  }
  if (first && !tuner_.holding()) {
    known_ = read_known_profile();
    tuner_.begin(options_.batch_size, known_, {});
  } else {
    tuner_.begin_epoch();
  }
  ledger_.begin(!tuner_.profiling());
  phase_ = Phase::steps;
  stepping_ = Stepping::unknown;
}

void Session::step_as(Stepping stepping) {
  if (!in_epoch()) {
    begin_epoch();
  }
  if (stepping_ != Stepping::unknown && stepping_ != stepping) {
    throw Error{ErrorKind::invalid_argument, "steps are reported in two ways within one epoch",
                "either mark their beginnings, or report progress"};
  }
  stepping_ = stepping;
  if (phase_ == Phase::rest) {
    account_.enter(Part::steps);
    phase_ = Phase::steps;
  }
}

void Session::boundary(std::uint64_t over) {
  count_steps(over);
  tuner_.step(over);
  if (ranks_.alone() && tuner_.drift()) {
    retune_after_drift();
  }
}

void Session::count_steps(std::uint64_t over) {
  account_.count_steps(over);
  if (outer_ && over > 0) {
    outer_->steps(over);
  }
}

// A metric after the end of an epoch belongs to that epoch, so it is reported with it, or when the next epoch begins.
void Session::tell_of_epoch() {
  if (std::exchange(epoch_untold_, false) && outer_) {
    outer_->epoch();
  }
}

// In measurements, a step ends where the next one begins: loading its data is part of it.
void Session::begin_step() {
  if (takes("a step")) {
    step_as(Stepping::marked);
    boundary(std::exchange(phase_, Phase::step) == Phase::step ? 1 : 0);
  }
}

void Session::progress(std::uint64_t steps) {
  if (takes("a step")) {
    step_as(Stepping::seen);
    boundary(steps);
  }
}

void Session::end_steps() {
  if (!is_ours() || (phase_ != Phase::steps && phase_ != Phase::step)) {
    return;
  }
  const bool over = std::exchange(phase_, Phase::rest) == Phase::step;
  if (over) {
    count_steps(1);
  }
  if (outer_) {
    outer_->flush();
  }
  tuner_.end_steps(over);
  account_.enter(Part::rest);
}

void Session::end_epoch() {
  if (takes("the end of an epoch") && in_epoch()) {
    close_epoch();
  }
}

void Session::close_epoch() {
  end_steps();
  phase_ = Phase::between_epochs;
  epoch_untold_ = true;
  account_.cut(Part::rest);
  const Parts taken = account_.take(Seconds{0});
  if (!ranks_.alone() && !ledger_.epochs().empty()) {
    book(std::exchange(tail_, Parts{}));
  }
  ledger_.end(tuner_.profiled());
  book(taken);
  complain_of_silence();
  if (!tuner_.profiling()) {
    ledger_.keep_cost_of_settled();
  }
  reporter_.tell(EpochEnded{.epoch = ledger_.epochs().back()});
}

// Adds what this process and the other ranks have taken to the latest epoch.
void Session::book(Parts taken) {
  bool trouble = !tuner_.trouble().empty();
  try {
    exchange(ranks_, taken, trouble);
  } catch (const AgreedFailure& error) {
    tuner_.stop(error.what());
  }
  if (trouble) {
    tuner_.stop(tuner_.trouble().empty() ? "another rank lost its lease" : tuner_.trouble());
  }
  ledger_.book(taken);
}

void Session::complain_of_silence() {
  const std::uint64_t silent = ledger_.silent();
  if (silent == epochs_without_steps && tuner_.why_not().empty() && !tuner_.holding() &&
      options_.mode != TrainingMode::passive) {
    reporter_.warn(fmt::format("nothing can be profiled: no steps were reported in {} epochs", silent));
  }
  if (target_is_its_own_ && !ledger_.metric() && ledger_.epochs().size() == 2) {
    reporter_.warn("no metric was reported in two epochs, so the target cannot be checked");
  }
}

TrainingProgress Session::progress_so_far() const {
  TrainingProgress so_far = ledger_.progress();
  if (!tuner_.profiling()) {
    so_far.next_cost = ledger_.settled_cost();
    if (!so_far.next_cost && tuner_.applied()) {
      so_far.next_cost = ledger_.cost_of_another(tuner_.profile(), tuner_.optimum());
    }
  }
  return so_far;
}

std::optional<StopReason> Session::stop_reason() const {
  return stopped_by_ ? stopped_by_ : stop_reason_of(options_, progress_so_far());
}

bool Session::next_epoch() {
  if (!takes("another epoch")) {
    return false;
  }
  if (in_epoch()) {
    close_epoch();
  }
  if (stopped_by_) {
    return false;
  }
  const TrainingProgress so_far = progress_so_far();
  Verdict verdict{.stop = stop_reason_of(options_, so_far), .drifted = tuner_.drift().has_value()};
  try {
    ranks_.agree(verdict);
  } catch (const AgreedFailure& error) {
    tuner_.stop(error.what());
  }
  if (verdict.stop) {
    stopped_by_ = verdict.stop;
    tell_of_epoch();
    reporter_.tell(TrainingStopped{.reason = *stopped_by_,
                                   .cost = so_far.cost.value_or(Joules{0}),
                                   .next_epoch = so_far.next_cost.value_or(Joules{0})});
    return false;
  }
  if (verdict.drifted) {
    retune_after_drift();
  }
  begin_epoch();
  return true;
}

void Session::retune_after_drift() {
  const double drift = tuner_.drift().value_or(1.0);
  if (const std::optional<PowerSetting> optimum = tuner_.optimum(); optimum && tuner_.applied()) {
    before_drift_ = Chosen{.profile = tuner_.profile(), .optimum = *optimum};
  }
  ledger_.unsettle();
  tuner_.begin(options_.batch_size, std::nullopt,
               fmt::format("steps now take {:.0f} % of what they took when they were profiled", 100 * drift));
}

void Session::set_target(const TrainingTarget& target) {
  if (!takes("another target")) {
    return;
  }
  TrainingOptions changed = options_;
  changed.stopping.target = target;
  check_stopping(changed);
  if (!options_.stopping.target || options_.stopping.target->metric != target.metric ||
      options_.stopping.target->higher_is_better != target.higher_is_better) {
    options_.stopping.target = target;
    ledger_.judge_anew();
  }
}

void Session::report(double metric) {
  if (!is_ours()) {
    return;
  }
  if (outer_) {
    outer_->metric(metric);
  }
  if (!in_epoch()) {
    tell_of_epoch();
  }
  if (!std::isfinite(metric)) {
    reporter_.warn(fmt::format("a metric of {} was reported, which never reaches a target", metric));
    return;
  }
  ledger_.report(metric, in_epoch(), options_.stopping.target);
}

void Session::set_batch_size(std::uint64_t batch_size) {
  if (!takes("another batch size") || options_.batch_size == batch_size) {
    return;
  }
  options_.batch_size = batch_size;
  before_drift_.reset();
  ledger_.unsettle();
  if (account_.is_open() && !tuner_.holding()) {
    known_ = read_known_profile();
    tuner_.begin(options_.batch_size, known_, "the batch size has changed");
  }
}

void Session::hold(const PowerSetting& setting) {
  if (!takes("a setting to hold")) {
    return;
  }
  if (options_.mode != TrainingMode::optimize) {
    throw Error{ErrorKind::invalid_argument, "a training that only observes cannot hold a power setting",
                "let it optimize, or leave the setting as it is"};
  }
  ledger_.unsettle();
  tuner_.hold(setting);
}

void Session::confirm() {
  if (is_ours() && phase_ != Phase::finished) {
    tuner_.confirm();
  }
}

void Session::finish() {
  if (is_ours()) {
    end(true);
  }
}

// With the other ranks; or, from a destructor, without waiting for them.
void Session::end(bool together) {
  if (phase_ == Phase::finished) {
    return;
  }
  if (!together) {
    ranks_ = Ranks{};
  }
  if (in_epoch()) {
    close_epoch();
  }
  phase_ = Phase::finished;
  tell_of_epoch();
  const bool trained = account_.is_open();
  account_.close();
  tuner_.put_back();
  if (trained) {
    book(tail_ + account_.take(last_settling));
  }
  if (!stopped_by_) {
    stopped_by_ = stop_reason_of(options_, progress_so_far());
  }
  if (ranks_.leads() && !options_.files.result.empty()) {
    try {
      write_result(options_.files.result, result());
    } catch (const std::exception& error) {
      reporter_.warn(fmt::format("the result is not written: {}", error.what()));
    }
  }
}

void Session::predict(TrainingResult& result) const {
  const Fleet& fleet = meeting_.fleet;
  if (options_.mode == TrainingMode::optimize) {
    return;
  }
  const Parts all = ledger_.total_parts();
  const auto taken = [&](Part part) -> optimize::Taken {
    const Amount& amount = all[static_cast<std::size_t>(part)];
    return {.time = amount.time,
            .energy = amount.known ? std::optional{amount.energy} : std::nullopt,
            .steps = amount.steps};
  };
  optimize::ObservedRun run{.steps = taken(Part::steps),
                            .slices = taken(Part::slices),
                            .rest = taken(Part::rest),
                            .found = {},
                            .gpus = fleet.gpus};
  if (fleet.found) {
    run.found = PowerSetting{.limit = *fleet.found, .clock = std::nullopt};
  }
  if (!ledger_.price()) {
    result.no_prediction = "there is no GPU whose power limit can be read";
    return;
  }
  if (options_.mode == TrainingMode::passive && known_ && known_->complete) {
    result.profile = *known_;
    result.optimum = optimize::choose_setting(options_.goal, *ledger_.price(), result.profile.measurements);
  }
  result.prediction = optimize::predict(run, result.profile, result.optimum, *ledger_.price(), result.no_prediction);
}

// Why profiling was not completed.
std::string Session::too_short() const {
  if (!tuner_.again().empty()) {
    return fmt::format("{}, because {}", ended_while_profiled_again, tuner_.again());
  }
  const auto longest = std::ranges::max_element(ledger_.epochs(), {}, &EpochReport::steps);
  if (longest == ledger_.epochs().end() || longest->steps == 0) {
    return "no steps were reported";
  }
  return longest->steps < 2 ? "epochs of a single step are too short to profile" : std::string{ended_while_profiling};
}

TrainingResult Session::result() const {
  TrainingResult result;
  ledger_.sum_up(result);
  result.stopped_by = stopped_by_;
  result.eta = options_.eta;
  result.max_power = meeting_.fleet.max_power;
  result.gpus = meeting_.fleet.gpus;
  result.profiling_steps = tuner_.profiling_steps();
  result.profiling_time = tuner_.profiling_time();
  result.optimum = tuner_.optimum();
  result.applied = tuner_.applied();
  result.profile = tuner_.profile();
  result.unoptimized = tuner_.why_not();
  if (phase_ == Phase::finished && tuner_.profiling()) {
    result.unoptimized = too_short();
    if (before_drift_) {
      result.optimum = before_drift_->optimum;
      result.applied = true;
      result.profile = before_drift_->profile;
    }
  }
  predict(result);
  return result;
}

}  // namespace zeus::train
