#include "train/session.hpp"

#include "train/account.hpp"
#include "train/ending.hpp"
#include "train/epoch_exchange.hpp"
#include "train/fleet.hpp"
#include "train/gpu_group.hpp"
#include "train/herald.hpp"
#include "train/prediction.hpp"
#include "train/profile_file.hpp"
#include "train/result_file.hpp"
#include "train/setting_choice.hpp"
#include "train/tuner.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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
  static_cast<void>(selector_of(options.goal, Watts{1}));
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

Parts sum(const Parts& a, const Parts& b) {
  Parts both = a;
  for (std::size_t i = 0; i < part_count; ++i) {
    both[i] += b[i];
  }
  return both;
}

Amount total(const Parts& parts) {
  Amount all;
  for (const Amount& amount : parts) {
    all += amount;
  }
  return all;
}

}  // namespace

class Session::Running {
 public:
  Running(SessionParts parts, const TrainingOptions& options);

  bool next_epoch();
  void begin_epoch();
  void end_epoch();
  void begin_step();
  void end_step();
  void progress(std::uint64_t steps);
  void end_steps();
  void report(double metric);
  void set_batch_size(std::uint64_t batch_size);
  // With the other ranks, or, from a destructor, without waiting for anybody.
  void finish(bool together);
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] TrainingResult result() const;
  [[nodiscard]] const Tuner& tuner() const { return *tuner_; }
  [[nodiscard]] bool is_ours() const { return owner_ == ::getpid(); }

 private:
  enum class Stepping { unknown, marked, seen };

  void require_unfinished(const char* what) const;
  void tune();
  [[nodiscard]] std::optional<records::PowerProfile> known_profile();
  void boundary(std::uint64_t over);
  void step_as(Stepping stepping);
  void close_epoch();
  void book(Parts taken);
  void write_down(EpochReport& report, const Parts& parts) const;
  void complain_of_silence(const EpochReport& report);
  void retune_after_drift();
  [[nodiscard]] std::optional<Joules> next_cost() const;
  [[nodiscard]] std::optional<Joules> cost_of(const Amount& amount) const;
  [[nodiscard]] Progress progress_so_far() const;
  void agree(std::vector<double>& decision);
  void predict(TrainingResult& result) const;
  [[nodiscard]] std::string too_short() const;

  TrainingOptions options_;
  pid_t owner_ = ::getpid();
  Clock& clock_;
  std::unique_ptr<Meter> meter_;
  Herald herald_;
  Ranks ranks_;
  GpuGroup group_;
  std::optional<Fleet> fleet_;
  std::optional<Account> account_;
  std::unique_ptr<Tuner> tuner_;
  std::optional<optimize::EnergyTimeCost> price_;

  std::optional<records::PowerProfile> known_;  // of this batch size, when it was begun

  std::vector<EpochReport> epochs_;
  std::vector<Parts> epoch_parts_;
  Parts tail_{};
  bool in_epoch_ = false;
  bool in_steps_ = false;
  bool in_step_ = false;
  Stepping stepping_ = Stepping::unknown;
  bool tuned_at_begin_ = false;
  std::optional<Joules> settled_epoch_;  // the cost of the latest epoch that was spent at one setting
  std::uint64_t silent_epochs_ = 0;
  std::optional<double> metric_;
  std::optional<double> best_metric_;
  std::optional<double> epoch_metric_;
  std::optional<StopReason> stopped_by_;
  bool finished_ = false;
};

Session::Running::Running(SessionParts parts, const TrainingOptions& options)
    : options_{options},
      clock_{parts.clock},
      meter_{std::move(parts.meter)},
      herald_{options.listener},
      ranks_{options.collective, options.collective_patience},
      group_{std::move(parts.gpus), std::move(parts.acquire), options.lease_term} {
  check(options_);
  std::string why;
  try {
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
  }
  if (options_.cost_limit && !price_) {
    herald_.warn("the cost limit is not held: without a GPU whose power limit can be read there is no cost");
  }
}

void Session::Running::require_unfinished(const char* what) const {
  if (finished_) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the training is finished, and was told of {}", what),
                "begin another one"};
  }
}

std::optional<records::PowerProfile> Session::Running::known_profile() {
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

void Session::Running::tune() {
  if (!tuner_->has_begun()) {
    known_ = known_profile();
    tuner_->begin(options_.batch_size, known_, {});
  } else {
    tuner_->begin_epoch();
  }
}

void Session::Running::begin_epoch() {
  require_unfinished("another epoch");
  if (in_epoch_) {
    close_epoch();
  }
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

void Session::Running::step_as(Stepping stepping) {
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

void Session::Running::boundary(std::uint64_t over) {
  account_->count_steps(over);
  tuner_->step(over);
  if (ranks_.alone() && tuner_->drift()) {
    retune_after_drift();
  }
}

void Session::Running::begin_step() {
  step_as(Stepping::marked);
  boundary(std::exchange(in_step_, true) ? 1 : 0);
}

void Session::Running::end_step() {
  // The step ends, for all that is measured, where the next one begins: so its data loading is part of it.
}

void Session::Running::progress(std::uint64_t steps) {
  step_as(Stepping::seen);
  boundary(steps);
}

void Session::Running::end_steps() {
  if (!in_steps_) {
    return;
  }
  if (std::exchange(in_step_, false)) {
    account_->count_steps(1);
  }
  in_steps_ = false;
  tuner_->end_steps();
  account_->enter(Part::rest);
}

void Session::Running::end_epoch() {
  require_unfinished("the end of an epoch");
  if (in_epoch_) {
    close_epoch();
  }
}

void Session::Running::close_epoch() {
  end_steps();
  in_epoch_ = false;
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
void Session::Running::book(Parts taken) {
  bool trouble = !tuner_->trouble().empty();
  try {
    exchange(ranks_, taken, trouble);
  } catch (const AgreedFailure& error) {
    tuner_->stop(error.what());
  }
  if (trouble) {
    tuner_->stop(tuner_->trouble().empty() ? "another rank lost its lease" : tuner_->trouble());
  }
  epoch_parts_.back() = sum(epoch_parts_.back(), taken);
  write_down(epochs_.back(), epoch_parts_.back());
}

void Session::Running::write_down(EpochReport& report, const Parts& parts) const {
  const Amount all = total(parts);
  report.time = all.time;
  report.steps_time = all.time - parts[static_cast<std::size_t>(Part::rest)].time;
  report.steps = all.steps;
  report.energy = all.known && fleet_->gpus > 0 ? std::optional{all.energy} : std::nullopt;
  report.cost = cost_of(all);
}

std::optional<Joules> Session::Running::cost_of(const Amount& amount) const {
  return amount.known && price_ ? std::optional{price_->of(amount.energy.value, amount.time)} : std::nullopt;
}

void Session::Running::complain_of_silence(const EpochReport& report) {
  silent_epochs_ = report.steps == 0 ? silent_epochs_ + 1 : 0;
  if (silent_epochs_ == epochs_without_steps && options_.mode != TrainingMode::passive) {
    herald_.warn(fmt::format("nothing can be profiled: no steps were reported in {} epochs", silent_epochs_));
  }
  if (options_.target && !metric_ && epochs_.size() == 2) {
    herald_.warn("no metric was reported in two epochs: the target cannot be seen to be reached");
  }
}

std::optional<Joules> Session::Running::next_cost() const {
  if (tuner_->profiling() || epochs_.empty()) {
    return std::nullopt;
  }
  if (settled_epoch_) {
    return settled_epoch_;
  }
  const std::optional<PowerSetting> optimum = tuner_->optimum();
  if (!optimum || !tuner_->applied() || !price_) {
    return std::nullopt;
  }
  // The epoch that profiled, at the optimum.
  const records::PowerProfile profile = tuner_->profile();
  for (const PowerMeasurement& m : profile.measurements) {
    if (m.setting == *optimum) {
      const auto steps = static_cast<double>(epochs_.back().steps);
      const Amount& rest = epoch_parts_.back()[static_cast<std::size_t>(Part::rest)];
      return price_->of(m.step_energy.value * steps + rest.energy.value, m.step_time * steps + rest.time);
    }
  }
  return std::nullopt;
}

Progress Session::Running::progress_so_far() const {
  Progress so_far{.epochs = epochs_.size(), .metric = best_metric_, .cost = Joules{0}, .next_cost = next_cost()};
  for (const EpochReport& epoch : epochs_) {
    so_far.cost = so_far.cost && epoch.cost ? std::optional{*so_far.cost + *epoch.cost} : std::nullopt;
  }
  return so_far;
}

std::optional<StopReason> Session::Running::stop_reason() const {
  return stopped_by_ ? stopped_by_ : ending_of(options_, progress_so_far());
}

void Session::Running::agree(std::vector<double>& decision) {
  try {
    ranks_.share(decision);
  } catch (const AgreedFailure& error) {
    tuner_->stop(error.what());
  }
}

bool Session::Running::next_epoch() {
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

void Session::Running::retune_after_drift() {
  const double drift = tuner_->drift().value_or(1.0);
  settled_epoch_.reset();
  tuner_->begin(options_.batch_size, std::nullopt,
                fmt::format("steps have come to take {:.0f} % of what they took when they were profiled", 100 * drift));
}

void Session::Running::report(double metric) {
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

void Session::Running::set_batch_size(std::uint64_t batch_size) {
  require_unfinished("another batch size");
  if (options_.batch_size == batch_size) {
    return;
  }
  options_.batch_size = batch_size;
  settled_epoch_.reset();
  if (tuner_->has_begun()) {
    known_ = known_profile();
    tuner_->begin(options_.batch_size, known_, "the batch size has changed");
  }
}

void Session::Running::finish(bool together) {
  if (std::exchange(finished_, true)) {
    return;
  }
  if (!together) {
    ranks_ = Ranks{};
  }
  if (in_epoch_) {
    close_epoch();
  }
  const bool trained = account_->is_open();
  account_->close();
  tuner_->put_back();
  if (trained) {
    book(sum(tail_, account_->take(last_settling)));
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

void Session::Running::predict(TrainingResult& result) const {
  if (options_.mode == TrainingMode::optimize) {
    return;
  }
  ObservedRun run{.parts = {}, .found = {}, .gpus = fleet_->gpus};
  for (const Parts& parts : epoch_parts_) {
    run.parts = sum(run.parts, parts);
  }
  if (fleet_->found) {
    run.found = PowerSetting{.limit = *fleet_->found, .clock = std::nullopt};
  }
  if (options_.mode == TrainingMode::passive && known_ && known_->complete && price_) {
    result.profile = *known_;
    result.optimum = choose_setting(options_.goal, fleet_->max_power, result.profile.measurements);
  }
  if (!price_) {
    result.no_prediction = "there is no GPU whose power limit can be read";
    return;
  }
  result.prediction = train::predict(run, result.profile, result.optimum, *price_, result.no_prediction);
}

// Why profiling did not come to an end.
std::string Session::Running::too_short() const {
  const auto longest = std::ranges::max_element(epochs_, {}, &EpochReport::steps);
  if (longest == epochs_.end() || longest->steps == 0) {
    return "no steps were reported";
  }
  return longest->steps < 2 ? "epochs of a single step are too short to profile"
                            : "the training was over before profiling was";
}

TrainingResult Session::Running::result() const {
  TrainingResult result;
  result.stopped_by = stopped_by_;
  result.epochs = epochs_;
  Amount all;
  for (const Parts& parts : epoch_parts_) {
    all += total(parts);
  }
  result.time = all.time;
  result.energy = all.known && fleet_->gpus > 0 && !epochs_.empty() ? std::optional{all.energy} : std::nullopt;
  result.cost = epochs_.empty() ? std::nullopt : cost_of(all);
  result.eta = options_.eta;
  result.max_power = fleet_->max_power;
  result.gpus = fleet_->gpus;
  result.metric = metric_;
  result.profiling_steps = tuner_->profiling_steps();
  result.profiling_time = tuner_->profiling_time();
  result.optimum = tuner_->optimum();
  result.applied = tuner_->applied();
  result.profile = tuner_->profile();
  result.unoptimized = tuner_->why_not();
  if (finished_ && tuner_->profiling()) {
    result.unoptimized = too_short();
  }
  predict(result);
  return result;
}

Session::Session(SessionParts parts, const TrainingOptions& options)
    : running_{std::make_unique<Running>(std::move(parts), options)} {
}

Session::~Session() {
  if (!running_->is_ours()) {
    return;
  }
  try {
    running_->finish(false);
  } catch (...) {
    // There is nobody left to tell, and nothing may come out of a destructor.
  }
}

// In a forked child each of these does nothing.
bool Session::next_epoch() {
  return running_->is_ours() && running_->next_epoch();
}

void Session::begin_epoch() {
  if (running_->is_ours()) {
    running_->begin_epoch();
  }
}

void Session::end_epoch() {
  if (running_->is_ours()) {
    running_->end_epoch();
  }
}

void Session::begin_step() {
  if (running_->is_ours()) {
    running_->begin_step();
  }
}

void Session::end_step() {
  if (running_->is_ours()) {
    running_->end_step();
  }
}

void Session::progress(std::uint64_t steps) {
  if (running_->is_ours()) {
    running_->progress(steps);
  }
}

void Session::end_steps() {
  if (running_->is_ours()) {
    running_->end_steps();
  }
}

void Session::report(double metric) {
  if (running_->is_ours()) {
    running_->report(metric);
  }
}

void Session::set_batch_size(std::uint64_t batch_size) {
  if (running_->is_ours()) {
    running_->set_batch_size(batch_size);
  }
}

void Session::finish() {
  if (running_->is_ours()) {
    running_->finish(true);
  }
}

std::optional<StopReason> Session::stop_reason() const {
  return running_->stop_reason();
}

TrainingResult Session::result() const {
  return running_->result();
}

bool Session::profiling() const {
  return running_->tuner().profiling();
}

PowerProfile Session::profile() const {
  return running_->tuner().profile();
}

std::optional<PowerSetting> Session::optimum() const {
  return running_->tuner().optimum();
}

}  // namespace zeus::train
