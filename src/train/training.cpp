#include "train/session.hpp"

#include <zeus/train.hpp>

#include <utility>

namespace zeus {

Training::Training(std::unique_ptr<train::Session> session) : session_{std::move(session)} {
}
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;
Training::~Training() = default;

bool Training::next_epoch() {
  return session_->next_epoch();
}

void Training::begin_step() {
  session_->begin_step();
}

// A step ends, for all that is measured, where the next one begins.
void Training::end_step() noexcept {
}

void Training::progress(std::uint64_t steps) {
  session_->progress(steps);
}

void Training::end_steps() {
  session_->end_steps();
}

void Training::report(double metric) {
  session_->report(metric);
}

void Training::begin_epoch() {
  session_->begin_epoch();
}

void Training::end_epoch() {
  session_->end_epoch();
}

std::optional<StopReason> Training::stop_reason() const {
  return session_->stop_reason();
}

void Training::set_target(const TrainingTarget& target) {
  session_->set_target(target);
}

void Training::set_batch_size(std::uint64_t batch_size) {
  session_->set_batch_size(batch_size);
}

void Training::finish() {
  session_->finish();
}

TrainingResult Training::result() const {
  return session_->result();
}

bool Training::profiling() const {
  return session_->profiling();
}

PowerProfile Training::profile() const {
  return session_->profile();
}

std::optional<PowerSetting> Training::optimum() const {
  return session_->optimum();
}

}  // namespace zeus
