// zeus/job.hpp: each member calls that of the OpenJob behind it.
#include "job_library/open_job.hpp"

#include <zeus/job.hpp>

#include <exception>
#include <new>
#include <utility>

namespace zeus {

namespace {

job_library::OpenJob& open(const std::shared_ptr<job_library::OpenJob>& job) {
  if (job == nullptr) {
    throw Error{ErrorKind::invalid_argument, "this job or try was moved from", "use the one that it was moved to"};
  }
  job->require_here();
  return *job;
}

// A forked child's copy of its parent's job still belongs to the parent. It is never destroyed in the child: that would
// close the store while the parent uses it.
bool forget_unless_here(std::shared_ptr<job_library::OpenJob>& job) noexcept {
  if (job != nullptr && !job->is_here()) {
    (void)new (std::nothrow) std::shared_ptr<job_library::OpenJob>{std::move(job)};
  }
  return job == nullptr;
}

}  // namespace

Job::Job(std::string_view name, const JobDefinition& definition, const JobOptions& options)
    : job_{std::make_shared<job_library::OpenJob>(name, &definition, options)} {
}
Job::Job(std::string_view name, const JobOptions& options)
    : job_{std::make_shared<job_library::OpenJob>(name, nullptr, options)} {
}
Job::Job(Job&&) noexcept = default;

Job& Job::operator=(Job&& other) noexcept {
  const Job former{std::move(*this)};
  job_ = std::move(other.job_);
  return *this;
}

Job::~Job() {
  if (!forget_unless_here(job_)) {
    job_->close();
  }
}

std::string Job::name() const {
  return open(job_).name();
}

JobDefinition Job::definition() const {
  return open(job_).definition();
}

std::optional<Try> Job::next_try() {
  const std::optional<std::uint64_t> training = open(job_).next_try();
  return training ? std::optional{Try{job_, *training}} : std::nullopt;
}

bool Job::reached() const {
  return open(job_).reached();
}

std::string Job::unrecorded() const {
  return open(job_).unrecorded();
}

JobSummary Job::summary() const {
  return open(job_).summary();
}

Try::Try(std::shared_ptr<job_library::OpenJob> job, std::uint64_t training)
    : job_{std::move(job)}, training_{training}, exceptions_{std::uncaught_exceptions()} {
}
Try::Try(Try&&) noexcept = default;

Try& Try::operator=(Try&& other) noexcept {
  if (this != &other) {
    end();
    job_ = std::move(other.job_);
    training_ = other.training_;
    exceptions_ = other.exceptions_;
  }
  return *this;
}

Try::~Try() {
  end();
}

void Try::end() noexcept {
  if (forget_unless_here(job_)) {
    return;
  }
  try {
    job_->end(training_, std::uncaught_exceptions() > exceptions_ ? 1 : 0);
  } catch (const std::exception&) {
    // Another try has begun, or the job is gone: the try is over already.
  }
  job_.reset();
}

int Try::batch_size() const {
  return open(job_).training(training_).batch_size();
}

std::uint64_t Try::seed() const {
  return open(job_).training(training_).seed();
}

std::optional<int> Try::max_epochs() const {
  return open(job_).max_epochs(training_);
}

std::optional<Joules> Try::cost_limit() const {
  return open(job_).cost_limit(training_);
}

std::optional<TrainingTarget> Try::target() const {
  return open(job_).target();
}

std::optional<Watts> Try::limit() const {
  return open(job_).limit(training_);
}

std::string Try::why() const {
  return open(job_).why(training_);
}

bool Try::next_epoch() {
  return open(job_).next_epoch(training_);
}

void Try::begin_step() {
  open(job_).begin_step(training_);
}

void Try::end_steps() {
  open(job_).training(training_).end_steps();
}

void Try::report(double metric) {
  open(job_).training(training_).report(metric);
}

bool Try::over() const {
  return open(job_).training(training_).over();
}

void Try::fail() {
  open(job_).end(training_, 1);
}

void Try::took(Seconds time, std::optional<Energy> energy) {
  open(job_).reported(training_).tell(time, energy);
}

std::vector<Watts> Try::limits_to_measure() const {
  return open(job_).to_measure(training_);
}

void Try::measured(const std::vector<LimitProfile>& limits) {
  open(job_).reported(training_).tell(limits);
  job_->tell_driver();
}

}  // namespace zeus
