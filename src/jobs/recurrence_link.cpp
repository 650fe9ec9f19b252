#include "jobs/recurrence_link.hpp"

#include <utility>

namespace zeus::jobs {

KeptRecurrence::KeptRecurrence(Job& job, Recurrence recurrence)
    : job_{&job}, number_{recurrence.number() + 1}, recurrence_{std::move(recurrence)} {
}

const records::JobDefinition& KeptRecurrence::definition() const {
  return job_->definition();
}

const optimize::JobSpec& KeptRecurrence::spec() const {
  return job_->spec();
}

std::vector<records::LimitProfile> KeptRecurrence::limits(int batch_size) const {
  return job_->limits(batch_size);
}

std::optional<Seconds> KeptRecurrence::run_time(int batch_size) const {
  return job_->run_time(batch_size);
}

std::uint64_t KeptRecurrence::seed_of_next_try() {
  return job_->seed_of_next_try();
}

RecurrenceLink::Worked KeptRecurrence::worked(int batch_size) {
  Worked worked;
  for (const int known : job_->spec().batch_sizes) {
    (known == batch_size ? worked.here : worked.elsewhere) |= job_->has_reached(known);
  }
  return worked;
}

bool KeptRecurrence::over() const {
  return !recurrence_ || recurrence_->over();
}

std::optional<Step> KeptRecurrence::next(Wait /*wait*/) {
  return recurrence_.value().next();
}

std::optional<records::TryStarted> KeptRecurrence::claim(int batch_size, Wait /*wait*/) {
  return recurrence_.value().claim(batch_size);
}

void KeptRecurrence::profiled(const records::LimitsMeasured& measured) {
  recurrence_.value().profiled(measured);
}

void KeptRecurrence::epochs(const records::TryProgress& progress) {
  recurrence_.value().epochs(progress);
}

void KeptRecurrence::finished(const records::TryResult& result) {
  recurrence_.value().finished(result);
}

void KeptRecurrence::give_up(const std::string& reason) {
  recurrence_.value().give_up(reason);
}

void KeptRecurrence::beat() {
  recurrence_.value().beat();
}

void KeptRecurrence::let_go() noexcept {
  recurrence_.reset();
}

}  // namespace zeus::jobs
