#include "trial_sessions/session_gpus.hpp"

#include <utility>
#include <variant>

namespace zeus::trial_sessions {

SessionGpus::SessionGpus(Parts parts, TrainingOptions base) : parts_{std::move(parts)}, base_{std::move(base)} {
}

void SessionGpus::hear(const TrainingEvent& event) {
  if (const auto* applied = std::get_if<SettingApplied>(&event)) {
    chosen_ = applied->optimum ? std::optional{applied->setting.limit} : std::nullopt;
  } else if (const auto* alone = std::get_if<Unoptimized>(&event)) {
    left_alone_ = alone->why;
    chosen_.reset();
  }
}

void SessionGpus::begin() {
  leave();
  left_alone_.clear();
  result_.reset();
}

void SessionGpus::open(TrainingOptions options) {
  leave();
  options.listener = [this](const TrainingEvent& event) { hear(event); };
  session_ = parts_.open(options);
}

void SessionGpus::hold(Watts limit) {
  open(base_);
  session_->hold({.limit = limit, .clock = {}});
  session_->begin_epoch();
}

void SessionGpus::compare(const trial::Slices& slices) {
  TrainingOptions options = base_;
  if (!slices.limits.empty()) {
    options.profiling.limits = slices.limits;
    options.profiling.try_clocks = false;
    options.profiling.drift_tolerance = 0;
  }
  if (slices.lengths) {
    options.profiling.plan = SweepProfiling{.settle = slices.lengths->settle, .measure = slices.lengths->measure};
    options.profiling.wait_steps = slices.lengths->wait;
  }
  open(std::move(options));
  session_->begin_epoch();
  session_->progress(0);
}

void SessionGpus::leave() {
  if (session_) {
    session_->finish();
    compared_ = session_->profile();
    result_ = session_->result();
    session_.reset();
  }
  chosen_.reset();
}

}  // namespace zeus::trial_sessions
