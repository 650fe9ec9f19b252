#include "train/session.hpp"

#include <zeus/error.hpp>
#include <zeus/train.hpp>

#include <utility>

namespace zeus {

Training::Training(std::unique_ptr<train::Session> session) : session_{std::move(session)} {
}
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;
Training::~Training() = default;

train::Session& Training::session() const {
  if (!session_) {
    throw Error{ErrorKind::invalid_argument, "this training was moved from", "use the one that it was moved to"};
  }
  return *session_;
}

bool Training::next_epoch() {
  return session().next_epoch();
}

void Training::begin_step() {
  session().begin_step();
}

void Training::progress(std::uint64_t steps) {
  session().progress(steps);
}

void Training::end_steps() {
  session().end_steps();
}

void Training::report(double metric) {
  session().report(metric);
}

void Training::begin_epoch() {
  session().begin_epoch();
}

void Training::end_epoch() {
  session().end_epoch();
}

std::optional<StopReason> Training::stop_reason() const {
  return session().stop_reason();
}

void Training::set_target(const TrainingTarget& target) {
  session().set_target(target);
}

void Training::set_batch_size(std::uint64_t batch_size) {
  session().set_batch_size(batch_size);
}

void Training::hold(const PowerSetting& setting) {
  session().hold(setting);
}

void Training::confirm() {
  session().confirm();
}

void Training::finish() {
  session().finish();
}

TrainingResult Training::result() const {
  return session().result();
}

bool Training::profiling() const {
  return session().profiling();
}

PowerProfile Training::profile() const {
  return session().profile();
}

std::optional<PowerSetting> Training::optimum() const {
  return session().optimum();
}

}  // namespace zeus
