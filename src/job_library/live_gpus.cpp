#include "job_library/live_gpus.hpp"

#include "trial/slice_profiling.hpp"

namespace zeus::job_library {

void LiveGpus::set_goal(const PowerGoal& goal, double eta) {
  goal_ = goal;
  eta_ = eta;
}

void LiveGpus::begin() {
  leave();
  heard_.forget_refusals();
}

TrainingOptions LiveGpus::options(bool compares) {
  TrainingOptions options;
  options.goal = goal_;
  options.eta = eta_;
  options.monitor = devices_.monitor();
  options.listener = [this, compares](const TrainingEvent& event) { heard_.hear(event, compares); };
  return options;
}

void LiveGpus::hold(Watts limit) {
  leave();
  training_.emplace(options(false));
  training_->hold({.limit = limit, .clock = {}});
  training_->begin_epoch();
}

void LiveGpus::compare(const trial::Slices& slices) {
  leave();
  TrainingOptions compared = options(true);
  // A job's device has limits and no clocks.
  compared.profiling.limits = devices_.device().power_limits;
  compared.profiling.try_clocks = false;
  compared.profiling = trial::profiling_of(slices, compared.profiling);
  training_.emplace(compared);
  training_->begin_epoch();
  training_->progress(0);
}

void LiveGpus::confirm() {
  if (training_) {
    training_->confirm();
  }
}

void LiveGpus::leave() {
  if (training_) {
    training_->finish();
    compared_ = training_->profile();
    training_.reset();
  }
  heard_.choose(std::nullopt);
}

}  // namespace zeus::job_library
