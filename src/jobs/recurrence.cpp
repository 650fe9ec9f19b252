#include "jobs/explanation.hpp"
#include "jobs/job.hpp"
#include "jobs/job_impl.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace zeus::jobs {

namespace {

constexpr Seconds between_beats{10.0};
// The assumed relative uncertainty of an energy.
constexpr double assumed_energy_doubt = 0.01;

Joules uncertainty_of(const std::vector<records::GpuEnergy>& gpus) {
  Joules whole;
  for (const records::GpuEnergy& gpu : gpus) {
    whole += gpu.energy.uncertainty;  // all of which GPUs may share
  }
  return whole;
}

// What is measured under a limit that the devices do not have would be chosen, and could never be set.
void require_own(const records::JobDevice& device, Watts limit) {
  if (!std::ranges::binary_search(device.power_limits, limit)) {
    std::string all;
    for (const Watts one : device.power_limits) {
      all += fmt::format("{}{:.6g}", all.empty() ? "" : ", ", one.value());
    }
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{:.6g} W is not one of the power limits of these devices: {} W", limit.value(), all),
                "measure the limits with which the recurrence began"};
  }
}

// A later report of a try may not fall below an earlier one, apart from uncertainty: a provisional energy may exceed
// the final one a little, even beyond its interval.
void require_no_fall(const RunningTry& before, const records::TryProgress& now) {
  const auto refuse = [](const std::string& why) {
    throw Error{ErrorKind::invalid_argument, why, "report the try's totals since its start, in their order"};
  };
  if (now.epochs < before.epochs) {
    refuse(fmt::format("the try had run {} epochs before, and now reports {}", before.epochs, now.epochs));
  }
  if (now.time < before.time) {
    refuse(fmt::format("the try had taken {} s before, and now reports {} s", before.time.value(), now.time.value()));
  }
  const Joules doubt = 2.0 * (uncertainty_of(now.gpus) + before.uncertainty) + assumed_energy_doubt * before.energy;
  if (!now.gpus.empty() && sum(now.gpus) + doubt < before.energy) {
    refuse(fmt::format("the try had taken {} J before, and now reports {} J", before.energy.value(),
                       sum(now.gpus).value()));
  }
}

// The step that a request was answered with, from the entries that it made.
Step answered_step(std::span<const records::JobEntry> made) {
  if (const auto* const given_up = std::get_if<records::RecurrenceGivenUp>(&made.front().body)) {
    return given_up->failed.value_or(records::FailedTries{});
  }
  return std::get<records::TryStarted>(made.front().body);
}

}  // namespace

Joules sum(const std::vector<records::GpuEnergy>& gpus) {
  Joules whole;
  for (const records::GpuEnergy& gpu : gpus) {
    whole += gpu.energy.value;
  }
  return whole;
}

Error over_error(std::uint64_t recurrence) {
  return {ErrorKind::conflict,
          fmt::format("recurrence {} is over: it ended, or was given up because its owner seemed dead", recurrence + 1),
          "begin another one; later reports of this one do not count"};
}

std::uint64_t seed_of_try(const JobState& state, std::uint64_t number) {
  return state.definition().seed + 1 + number;
}

namespace {

// The next try of the job, for that recurrence. If the step is not `told`, its entry has no reason.
Decided decided(const JobState& state, std::uint64_t recurrence, const records::TryPlan& plan, std::string why,
                bool told) {
  const records::TryStarted step{.event = {.try_number = state.tries(), .recurrence = recurrence, .plan = plan},
                                 .seed = seed_of_try(state, state.tries()),
                                 .why = std::move(why)};
  records::TryStarted recorded = step;
  if (!told) {
    recorded.why.clear();
  }
  return {.step = step, .bodies = {std::move(recorded)}};
}

}  // namespace

Decided decide_step(const JobState& state, std::uint64_t recurrence,
                    const std::optional<records::ProfileAsked>& answered_last, bool told) {
  optimize::Action action = optimize::unless_in_vain(state.job().next(recurrence, state.tries()),
                                                     state.find(recurrence)->missed, state.ever_reached());
  if (auto* const asked = std::get_if<records::ProfileAsked>(&action)) {
    const bool again =
        answered_last && answered_last->batch_size == asked->batch_size && answered_last->limits == asked->limits;
    if (!again) {
      asked->why = why(action, state);
      return {.step = std::move(*asked), .bodies = {}};
    }
    action = optimize::unmeasured(*asked, state.job().spec());
  }
  if (const auto* failed = std::get_if<records::FailedTries>(&action)) {
    return {.step = *failed,
            .bodies = {records::RecurrenceGivenUp{.recurrence = recurrence,
                                                  .reason = failed->never_reached
                                                                ? "it missed the target, which has never been reached"
                                                                : fmt::format("{} tries failed", failed->tries),
                                                  .failed = told ? std::optional{*failed} : std::nullopt}}};
  }
  return decided(state, recurrence, std::get<records::TryPlan>(action), why(action, state), told);
}

struct Recurrence::Impl {
  Impl(Job::Impl& of, std::uint64_t which, bool is_elsewhere)
      : job{&of}, number{which}, elsewhere{is_elsewhere}, last_beat{of.site.clock.now()} {}

  // As it is on record now; a conflict Error if it is over.
  [[nodiscard]] const OpenRecurrence& open(const JobState& state) const {
    const OpenRecurrence* const known = state.find(number);
    if (known == nullptr) {
      throw over_error(number);
    }
    return *known;
  }
  // `told` is the try's number from 1, or 0 for whichever runs.
  [[nodiscard]] const RunningTry& running(const JobState& state, std::uint64_t told) const {
    const OpenRecurrence& known = open(state);
    if (!known.running) {
      throw Error{ErrorKind::invalid_argument, fmt::format("no try of recurrence {} is running", number + 1),
                  "ask for the next step first"};
    }
    if (told != 0 && told != known.running->number + 1) {
      throw Error{ErrorKind::conflict, fmt::format("try {} is not running: try {} is", told, known.running->number + 1),
                  "report on the try that was issued last"};
    }
    return *known.running;
  }

  void require_none_running(const JobState& state) const {
    if (open(state).running) {
      throw Error{ErrorKind::invalid_argument, fmt::format("a try of recurrence {} is running", number + 1),
                  "report its end first"};
    }
  }
  [[nodiscard]] bool is_told() const { return !request.key.empty(); }

  // Appends for its request, which is then used up.
  void append(
      const Job::Impl::Decide& decide, const Job::Impl::Repeat& repeat = [](const auto&) {}) {
    job->append(std::exchange(request, {}), decide, repeat);
  }

  Job::Impl* job;
  std::uint64_t number;
  bool elsewhere;  // runs in a client of a server
  bool done = false;
  Request request;
  std::optional<records::ProfileAsked> asked;  // not answered in full yet
  std::atomic<Instant> last_beat;
};

Recurrence::Recurrence(Job::Impl& job, std::uint64_t number, bool elsewhere)
    : impl_{std::make_unique<Impl>(job, number, elsewhere)} {
}
Recurrence::Recurrence(Recurrence&&) noexcept = default;

Recurrence::~Recurrence() {
  if (impl_ == nullptr || impl_->done || impl_->elsewhere) {
    return;
  }
  try {
    give_up("it was left unfinished");
  } catch (const std::exception&) {
    // Other processes will find its owner dead.
  }
}

std::uint64_t Recurrence::number() const {
  return impl_->number;
}

bool Recurrence::over() const {
  return impl_->done;
}

void Recurrence::ask_by(const Request& request) {
  impl_->request = request;
}

Step Recurrence::next() {
  Job::Impl& job = *impl_->job;
  job.give_up_the_dead();
  const bool told = impl_->is_told();
  std::optional<Step> step;
  impl_->append(
      [&](const JobState& state) {
        impl_->require_none_running(state);
        Decided decided = decide_step(state, impl_->number, impl_->asked, told);
        step = std::move(decided.step);
        return std::move(decided.bodies);
      },
      [&](std::span<const records::JobEntry> made) { step = answered_step(made); });
  if (const auto* const asked = std::get_if<records::ProfileAsked>(&*step)) {
    impl_->asked = *asked;
  }
  if (std::holds_alternative<records::FailedTries>(*step)) {
    impl_->done = true;
  }
  return std::move(*step);
}

Step Recurrence::next(const std::optional<records::ProfileAsked>& answered_last) {
  impl_->asked = answered_last;
  return next();
}

records::TryStarted Recurrence::claim(int batch_size) {
  const bool told = impl_->is_told();
  std::optional<records::TryStarted> step;
  impl_->append(
      [&](const JobState& state) {
        impl_->require_none_running(state);
        // The end of the try records its limit: several may have been in force.
        Decided claimed =
            decided(state, impl_->number, {.batch_size = batch_size, .max_epochs = state.definition().max_epochs},
                    "it has reached the target while its limits were measured", told);
        step = std::get<records::TryStarted>(std::move(claimed.step));
        return std::move(claimed.bodies);
      },
      [&](std::span<const records::JobEntry> made) { step = std::get<records::TryStarted>(made.front().body); });
  return std::move(*step);
}

void Recurrence::profiled(const records::LimitsMeasured& measured) {
  const records::JobEntryBody body =
      records::ProfileTaken{.recurrence = impl_->number, .measured = measured, .energy = sum(measured.charged)};
  impl_->append([&](const JobState& state) {
    const records::JobDevice& device = impl_->open(state).device;
    for (const records::LimitProfile& one : measured.limits) {
      require_own(device, one.limit);
    }
    return std::vector{body};
  });
}

void Recurrence::epochs(const records::TryProgress& progress, std::uint64_t try_number) {
  impl_->append([&](const JobState& state) {
    const RunningTry& running = impl_->running(state, try_number);
    require_no_fall(running, progress);
    return std::vector<records::JobEntryBody>{
        records::EpochsRun{.try_number = running.number, .recurrence = impl_->number, .progress = progress}};
  });
}

void Recurrence::finished(const records::TryResult& result, std::uint64_t try_number) {
  const bool measured = !result.progress.gpus.empty() || result.outcome == records::TryOutcome::lost;
  if (!measured && !result.left_out) {
    throw Error{ErrorKind::invalid_argument, "the energy of the try is not known, but the try is not left out",
                "give the reason to leave it out"};
  }
  impl_->append([&](const JobState& state) {
    const RunningTry& running = impl_->running(state, try_number);
    require_no_fall(running, result.progress);
    if (result.whole_epochs) {
      require_own(impl_->open(state).device, result.whole_epochs->limit);
    }
    return std::vector<records::JobEntryBody>{records::TryFinished{.try_number = running.number,
                                                                   .recurrence = impl_->number,
                                                                   .batch_size = running.batch_size,
                                                                   .energy = sum(result.progress.gpus),
                                                                   .result = result}};
  });
  impl_->done = reached(result.outcome);
  impl_->asked.reset();
}

void Recurrence::give_up(const std::string& reason) {
  impl_->append([&](const JobState& state) { return ending(impl_->open(state), reason); });
  impl_->done = true;
}

void Recurrence::beat(std::string_view readings) {
  const Instant now = impl_->job->site.clock.now();
  if (!impl_->elsewhere && now - impl_->last_beat.load() < between_beats) {
    return;
  }
  impl_->last_beat = now;
  impl_->job->store->beat(impl_->job->stored.id, impl_->number, readings, impl_->job->site.clock.wall());
}

}  // namespace zeus::jobs
