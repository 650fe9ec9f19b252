#include "job_library/live_gpus.hpp"

#include "base/log.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

namespace zeus::job_library {

namespace {

// How long limits stay without progress before they are put back: the same as for a Training.
constexpr Seconds lease_term{900};
constexpr Seconds between_renewals{60};

}  // namespace

void LiveGpus::set_goal(const PowerGoal& goal, double eta) {
  goal_ = goal;
  eta_ = eta;
}

void LiveGpus::note(const Error& error) {
  leases_.clear();
  heard_.leave_alone(error.what());
  log::warning(fmt::format("power limits are left alone from here on: {}", heard_.left_alone()));
}

void LiveGpus::begin() {
  leave();
  heard_.forget_refusals();
}

void LiveGpus::hold(Watts limit) {
  try {
    if (leases_.empty()) {
      for (const Gpu& gpu : devices_.gpus()) {
        leases_.push_back(gpu.lease(lease_term));
      }
    }
    for (GpuLease& lease : leases_) {
      lease.set_power_limit(limit);
    }
    // Only now, so that the training's settings are followed directly by the new ones.
    end_training();
    heard_.choose(limit);
    renewed_ = clock_.now();
  } catch (const Error& error) {
    end_training();
    note(error);
  }
}

void LiveGpus::compare(const trial::Slices& slices) {
  leave();
  TrainingOptions options;
  options.goal = goal_;
  options.eta = eta_;
  options.monitor = devices_.monitor();
  options.lease_term = lease_term;
  options.listener = [this](const TrainingEvent& event) { heard_.hear(event, true); };
  options.profiling.limits = slices.limits.empty() ? devices_.device().power_limits : slices.limits;
  options.profiling.try_clocks = false;
  options.profiling.drift_tolerance = 0;
  if (slices.lengths) {
    options.profiling.plan = SweepProfiling{.settle = slices.lengths->settle, .measure = slices.lengths->measure};
    options.profiling.wait_steps = slices.lengths->wait;
  }
  training_.emplace(options);
  training_->begin_epoch();
  training_->progress(0);
}

void LiveGpus::end_training() {
  if (training_) {
    training_->finish();
    compared_ = training_->profile();
    training_.reset();
  }
}

void LiveGpus::leave() {
  end_training();
  leases_.clear();
  heard_.choose(std::nullopt);
}

void LiveGpus::begin_epoch() {
  if (training_) {
    training_->begin_epoch();
  }
}

void LiveGpus::progress(std::uint64_t steps) {
  if (training_) {
    training_->progress(steps);
  } else {
    renew();
  }
}

void LiveGpus::end_epoch() {
  if (training_) {
    training_->end_epoch();
  } else {
    renew();
  }
}

void LiveGpus::renew() {
  if (leases_.empty() || clock_.now() - renewed_ < between_renewals) {
    return;
  }
  renewed_ = clock_.now();
  try {
    for (GpuLease& lease : leases_) {
      lease.renew();
    }
  } catch (const Error& error) {
    note(error);
  }
}

std::string LiveGpus::left_alone() const {
  for (const GpuLease& lease : leases_) {
    if (std::string why = lease.overruled(); !why.empty()) {
      return why;
    }
  }
  return heard_.left_alone();
}

}  // namespace zeus::job_library
