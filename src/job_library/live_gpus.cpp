#include "job_library/live_gpus.hpp"

#include "base/log.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <utility>
#include <variant>

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
  left_alone_ = error.what();
  leases_.clear();
  chosen_.reset();
  log::warning(fmt::format("power limits are left alone from here on: {}", left_alone_));
}

void LiveGpus::hear(const TrainingEvent& event) {
  if (const auto* applied = std::get_if<SettingApplied>(&event)) {
    chosen_ = applied->optimum ? std::optional{applied->setting.limit} : std::nullopt;
  } else if (const auto* alone = std::get_if<Unoptimized>(&event)) {
    left_alone_ = alone->why;
    chosen_.reset();
  }
}

void LiveGpus::begin() {
  leave();
  left_alone_.clear();
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
    chosen_ = limit;
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
  options.listener = [this](const TrainingEvent& event) { hear(event); };
  options.profiling.limits = slices.limits;
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
  chosen_.reset();
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
  return left_alone_;
}

}  // namespace zeus::job_library
