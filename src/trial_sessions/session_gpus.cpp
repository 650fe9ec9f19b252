#include "trial_sessions/session_gpus.hpp"

#include "trial/slice_profiling.hpp"

#include <utility>
#include <variant>

namespace zeus::trial_sessions {

namespace {

// Adds what an earlier session of the same training took.
void add(TrainingResult& result, const TrainingResult& earlier) {
  result.time += earlier.time;
  result.energy =
      result.energy && earlier.energy ? std::optional{in_turn(*earlier.energy, *result.energy)} : std::nullopt;
  result.cost = result.cost && earlier.cost ? std::optional{*result.cost + *earlier.cost} : std::nullopt;
  result.profiling_steps += earlier.profiling_steps;
  result.profiling_time += earlier.profiling_time;
  for (EpochReport& epoch : result.epochs) {
    epoch.number += earlier.epochs.size();
  }
  result.epochs.insert(result.epochs.begin(), earlier.epochs.begin(), earlier.epochs.end());
}

}  // namespace

SessionGpus::SessionGpus(Parts parts, TrainingOptions base) : parts_{std::move(parts)}, base_{std::move(base)} {
}

void SessionGpus::hear(const TrainingEvent& event, bool compares) {
  heard_.hear(event, compares);
  if (std::holds_alternative<SettingApplied>(event)) {
    set_any_ = true;
    if (loss_ && !loss_->until) {
      loss_->until = parts_.clock.now();
    }
  } else if (std::holds_alternative<Unoptimized>(event) && set_any_) {
    loss_ = Loss{.from = loss_ ? loss_->from : parts_.clock.now(), .until = {}};
  }
}

void SessionGpus::begin() {
  leave();
  set_any_ = false;
  loss_.reset();
  heard_.forget_refusals();
  result_.reset();
}

void SessionGpus::open(TrainingOptions options, bool compares) {
  leave();
  options.listener = [this, compares](const TrainingEvent& event) { hear(event, compares); };
  session_ = parts_.open(options);
}

void SessionGpus::hold(Watts limit) {
  open(base_, false);
  session_->hold({.limit = limit, .clock = {}});
  session_->begin_epoch();
}

void SessionGpus::compare(const trial::Slices& slices) {
  TrainingOptions options = base_;
  options.profiling = trial::profiling_of(slices, options.profiling);
  open(std::move(options), true);
  session_->begin_epoch();
  session_->progress(0);
}

void SessionGpus::confirm() {
  if (session_) {
    session_->confirm();
  }
}

void SessionGpus::leave() {
  if (session_) {
    session_->finish();
    compared_ = session_->profile();
    TrainingResult result = session_->result();
    if (result_) {
      add(result, *result_);
    }
    result_ = std::move(result);
    session_.reset();
  }
  heard_.choose(std::nullopt);
}

}  // namespace zeus::trial_sessions
