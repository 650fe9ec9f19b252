#include "job_library/open_job.hpp"

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/log.hpp"
#include "job_library/definition.hpp"
#include "job_library/process_clock.hpp"
#include "jobs/job.hpp"
#include "jobs/stored_keeper.hpp"
#include "remote_jobs/served_keeper.hpp"
#include "remote_jobs/server_address.hpp"
#include "remote_jobs/service_client.hpp"
#include "store/open_store.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>
#include <variant>

namespace zeus::job_library {

namespace {

// How often the driver looks at what happens during an epoch.
constexpr Seconds between_looks{0.5};
constexpr const char* run_around = "ZEUS_PROGRESS";

PowerGoal goal_of(const records::JobDefinition& definition) {
  if (definition.max_slowdown) {
    return MaxSlowdown{.factor = *definition.max_slowdown};
  }
  return LeastCost{};
}

}  // namespace

OpenJob::OpenJob(std::string_view name, const JobDefinition* definition, const JobOptions& options)
    : owner_{::getpid()}, clock_{process_clock()}, name_{name}, options_{options} {
  if (!(std::isfinite(options_.profile_time.value()) && options_.profile_time > Seconds{})) {
    throw Error{ErrorKind::invalid_argument, "the time for each limit is not a number of seconds above 0",
                "give one such as 5 s"};
  }
  if (!options_.store.empty() && !options_.server.empty()) {
    throw Error{ErrorKind::invalid_argument, "a job is kept in a store or by a server, and both are named",
                "leave one of JobOptions::store and JobOptions::server empty"};
  }
  if (!(options_.server_patience >= Seconds{} && std::isfinite(options_.server_patience.value()))) {
    throw Error{ErrorKind::invalid_argument, "the patience with a server is not a number of seconds from 0 on",
                "give one such as 600 s"};
  }
  keeper_ = keeper(definition != nullptr ? store::Access::create : store::Access::existing);
  open(definition);
}

OpenJob::~OpenJob() {
  close();
}

std::unique_ptr<jobs::Keeper> OpenJob::keeper(store::Access access) {
  const Environment environment = Environment::of_process();
  const std::string server =
      options_.store.empty() && options_.server.empty() ? environment.get("ZEUS_SERVER").value_or("") : options_.server;
  if (server.empty()) {
    return jobs::stored_keeper(
        options_.store.empty() ? store::default_store(environment).string() : options_.store.string(), access, clock_,
        FileTree{});
  }
  served_ = true;
  remote_jobs::RemotePlan plan{
      .address = remote_jobs::server_address(server, environment),
      .token = environment.get("ZEUS_TOKEN").value_or(""),
      .patience = options_.server_patience,
      .hurry = [this] { return leaves_.load(); },
      .readings = [this] { return live_ ? live_->readings() : std::vector<protocol::GpuNow>{}; },
      .say = [](const std::string& line) { log::warning(line); }};
  return remote_jobs::served_keeper(std::move(plan), jobs::this_site(clock_, FileTree{}).owner, clock_);
}

records::JobDefinition OpenJob::known() {
  if (std::optional<records::JobDefinition> found = keeper_->find(name_)) {
    return std::move(*found);
  }
  throw Error{ErrorKind::not_found, fmt::format("there is no job '{}' at {}", name_, keeper_->location()),
              "give its definition to create it; `zeus jobs` lists the jobs"};
}

void OpenJob::open(const JobDefinition* definition) {
  if (definition == nullptr) {
    definition_ = known();
    return;
  }
  if (!define(*definition)) {
    // The next recurrence asks again.
    definition_ = stored_definition(*definition, nullptr);
    wanted_ = *definition;
  }
}

bool OpenJob::define(const JobDefinition& definition) {
  std::optional<records::JobDefinition> found;
  if (!is_answered([&] { found = keeper_->find(name_); })) {
    return false;
  }
  records::JobDefinition stored = stored_definition(definition, found ? &*found : nullptr);
  if (!found) {
    if (!device_) {
      find_devices();
    }
    stored.device = *device_;
  }
  return is_answered([&] {
    keeper_->define(name_, stored);
    definition_ = known();
  });
}

// A store that cannot be used is an Error. A server that is away may come back, and one that refuses the token may take
// the next.
bool OpenJob::is_answered(const std::function<void()>& question) {
  try {
    question();
    return true;
  } catch (const Error& error) {
    if (!served_ || !(remote_jobs::is_passing(error) || error.kind() == ErrorKind::permission_denied)) {
      throw;
    }
    unrecorded_ = error;
    return false;
  }
}

void OpenJob::find_devices() {
  if (options_.elsewhere) {
    device_ = stored_device(*options_.elsewhere);
    return;
  }
  if (Environment::of_process().get(run_around)) {
    throw Error{ErrorKind::conflict, "this program is already run as a recurrence by `zeus run`",
                "start the program by itself, or have it use zeus::Training"};
  }
  live_.emplace(options_, [this] { return on_record(); });
  take_device();
}

void OpenJob::take_device() {
  device_ = live_->device();
  sets_limits_ = live_->sets_limits();
}

std::optional<records::JobDevice> OpenJob::on_record() {
  try {
    return keeper_->view(name_).device;
  } catch (const Error&) {  // there is no such job yet, or nothing can be asked now
    return std::nullopt;
  }
}

bool OpenJob::is_here() const noexcept {
  return owner_ == ::getpid();
}

void OpenJob::require_here() const {
  if (!is_here()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("this job was opened by process {}, not by this one", owner_),
                "open it again in the forked child"};
  }
  if (closed_) {
    throw Error{ErrorKind::invalid_argument, "the job of this try is gone", "keep the Job for as long as its tries"};
  }
}

JobDefinition OpenJob::definition() {
  return public_definition(definition_);
}

JobSummary OpenJob::summary() {
  return summary_of(keeper_->view(name_));
}

void OpenJob::make_instruments() {
  if (options_.elsewhere) {
    auto reported = std::make_unique<ReportedInstruments>();
    reported_ = reported.get();
    instruments_ = std::move(reported);
  } else {
    gpus_.emplace(*live_);
    auto limits = std::make_unique<trial::GpuInstruments>(*gpus_, options_.profile_time, clock_);
    limits_ = limits.get();
    instruments_ = std::move(limits);
  }
  const std::shared_ptr<Monitor> monitor = live_ ? live_->monitor() : nullptr;
  training_.emplace(*instruments_, monitor ? [monitor] { return monitor->stood_still(); } : std::function<Seconds()>{},
                    clock_);
}

bool OpenJob::begin() {
  if (!device_) {
    find_devices();
  } else if (live_ && live_->daemon_was_away()) {
    live_->look_for_limits(options_, [this] { return on_record(); });
    take_device();
  }
  if (!instruments_) {
    make_instruments();
  }
  reached_ = false;
  unrecorded_.reset();
  const bool defined = !wanted_ || define(*wanted_);
  if (defined) {
    wanted_.reset();
  }
  if (defined && is_answered([this] {
        definition_ = known();
        set_terms();
        begin_recurrence();
      })) {
    return true;
  }
  log::warning(fmt::format("{}; the training goes on, but is not recorded", unrecorded_->what()));
  set_terms();
  begin_alone();
  return false;
}

void OpenJob::set_terms() {
  if (gpus_) {
    gpus_->set_goal(goal_of(definition_), definition_.eta);
  }
  training_->set_terms(definition_.target, definition_.max_epochs);
  target_ = public_definition(definition_).target;
}

void OpenJob::begin_alone() {
  alone_ = true;
  plan_.reset();
  why_ = unrecorded_->kind() == ErrorKind::permission_denied ? "the server of the job refuses this user"
                                                             : "the server of the job is away";
  training_->trial().start(std::max(definition_.default_batch_size, 1), definition_.seed);
  if (limits_ != nullptr && sets_limits_) {
    limits_->search(options_.profile_time);
  }
}

std::optional<std::uint64_t> OpenJob::end_alone() {
  Loop& loop = *training_;
  loop.end(0);
  instruments_->leave();
  alone_ = false;
  reached_ = target_ ? loop.trial().has_reached() : loop.state().exit_code == 0;
  return std::nullopt;
}

void OpenJob::begin_recurrence() {
  driver_.emplace(
      keeper_->begin(name_, *device_), *device_, training_->trial(),
      jobs::DriverOptions{.sets_limits = sets_limits_, .stops_at_target = true, .starts_when_told = true}, clock_,
      [this](const jobs::DriverEvent& event) { hear(event); },
      [this](const Error& error) {
        log::warning(fmt::format("{}; the training goes on, but is not recorded", error.what()));
        unrecorded_ = error;
      });
}

void OpenJob::hear(const jobs::DriverEvent& event) {
  if (const auto* started = std::get_if<records::TryStarted>(&event)) {
    plan_ = started->event.plan;
    why_ = started->why;
  } else if (const auto* asked = std::get_if<records::ProfileAsked>(&event)) {
    plan_.reset();
    why_ = asked->why;
  }
}

std::optional<std::uint64_t> OpenJob::next_try() {
  require_here();
  if (alone_) {
    return end_alone();
  }
  if (!driver_) {
    if (!begin()) {
      return training_->trainings();
    }
  } else if (training_->trainings() > 0 && !training_->has_ended()) {
    end(training_->trainings(), 0);
  }
  const std::uint64_t before = training_->trainings();
  driver_->start_next();
  std::optional<jobs::DriverEnd> end;
  do {
    end = driver_->advance();
  } while (!end && training_->trainings() == before);
  if (!end) {
    told_at_ = clock_.now();
    return training_->trainings();
  }
  driver_.reset();
  reached_ = *end == jobs::DriverEnd::reached || (unrecorded_ && training_->trial().has_reached());
  if (*end == jobs::DriverEnd::unrecorded && unrecorded_) {
    throw Error{*unrecorded_};
  }
  return std::nullopt;
}

void OpenJob::close() {
  if (std::exchange(closed_, true)) {
    return;
  }
  try {
    if (driver_ && training_->trial().has_reached()) {
      // A reached target is recorded, even if the loop was left at once.
      training_->end(0);
      driver_->start_next();
      tell_driver();
    } else if (driver_ && training_->trainings() > 0) {
      // What the try took until now is its own, as for a command that is interrupted.
      leaves_ = true;
      training_->interrupt();
      tell_driver();
    }
  } catch (const std::exception& error) {
    log::warning(fmt::format("the end of a try is not recorded: {}", error.what()));
  }
  driver_.reset();
  if (instruments_) {
    instruments_->leave();
  }
}

Loop& OpenJob::training(std::uint64_t number) {
  require_here();
  if (!training_ || training_->trainings() != number) {
    throw Error{ErrorKind::invalid_argument, "this try is over, and another one has begun",
                "use the one that next_try() returned last"};
  }
  return *training_;
}

// Without a target, it is the job's maximum. With a target, nothing is known until the driver has decided on the try.
std::optional<int> OpenJob::max_epochs(std::uint64_t number) {
  (void)training(number);
  if (!target_) {
    return definition_.max_epochs;
  }
  return plan_ ? std::optional{plan_->max_epochs} : std::nullopt;
}

std::optional<Joules> OpenJob::cost_limit(std::uint64_t number) {
  (void)training(number);
  return plan_ ? plan_->budget : std::nullopt;
}

std::string OpenJob::why(std::uint64_t number) {
  (void)training(number);
  return why_;
}

std::optional<Watts> OpenJob::limit(std::uint64_t number) {
  const std::optional<Watts> held = training(number).trial().state().limit;
  return sets_limits_ ? held : std::optional{device_->power_limits.front()};
}

ReportedInstruments& OpenJob::reported(std::uint64_t number) {
  (void)training(number);
  if (reported_ == nullptr) {
    throw Error{ErrorKind::invalid_argument,
                "time and energy of this machine's devices are measured, and cannot be reported",
                "set JobOptions::elsewhere to report your own measurements"};
  }
  return *reported_;
}

std::vector<Watts> OpenJob::to_measure(std::uint64_t number) {
  (void)training(number);
  return reported_ != nullptr ? reported_->to_measure() : std::vector<Watts>{};
}

void OpenJob::tell_driver() {
  told_at_ = clock_.now();
  if (!driver_) {
    (void)training_->trial().go_on();
    return;
  }
  do {
    (void)driver_->advance();
  } while (driver_->has_more_to_do());
}

bool OpenJob::next_epoch(std::uint64_t number) {
  Loop& loop = training(number);
  loop.end_epoch();
  tell_driver();
  // The target and the job's maximum of epochs end it even if no more can be decided, or not yet.
  const bool done = loop.trial().has_reached() || loop.epochs() >= definition_.max_epochs;
  if (unrecorded_ && done) {
    end(number, 0);
  }
  if (done || loop.over()) {
    return false;
  }
  loop.begin_epoch();
  return true;
}

void OpenJob::begin_step(std::uint64_t number) {
  Loop& loop = training(number);
  loop.begin_step();
  if (loop.trial().has_news() || clock_.now() - told_at_ >= between_looks) {
    tell_driver();
  }
}

void OpenJob::end(std::uint64_t number, int exit_code) {
  training(number).end(exit_code);
  tell_driver();
}

}  // namespace zeus::job_library
