#include "train/session.hpp"

#include "train/running.hpp"

#include <utility>

namespace zeus::train {

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

void Session::set_target(const TrainingTarget& target) {
  if (running_->is_ours()) {
    running_->set_target(target);
  }
}

void Session::set_batch_size(std::uint64_t batch_size) {
  if (running_->is_ours()) {
    running_->set_batch_size(batch_size);
  }
}

void Session::hold(const PowerSetting& setting) {
  if (running_->is_ours()) {
    running_->hold(setting);
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
