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

// A later report of a try may not fall below an earlier one, apart from uncertainty: a provisional energy may exceed
// the final one a little, even beyond its interval.
void require_no_fall(const RunningTry& before, int epochs, const std::vector<records::GpuEnergy>& gpus, Seconds time) {
  const auto refuse = [](const std::string& why) {
    throw Error{ErrorKind::invalid_argument, why, "report the try's totals since its start, in their order"};
  };
  if (epochs < before.epochs) {
    refuse(fmt::format("the try had run {} epochs before, and now reports {}", before.epochs, epochs));
  }
  if (time < before.time) {
    refuse(fmt::format("the try had taken {} s before, and now reports {} s", before.time.value(), time.value()));
  }
  const Joules doubt = 2.0 * (uncertainty_of(gpus) + before.uncertainty) + assumed_energy_doubt * before.energy;
  if (!gpus.empty() && sum(gpus) + doubt < before.energy) {
    refuse(
        fmt::format("the try had taken {} J before, and now reports {} J", before.energy.value(), sum(gpus).value()));
  }
}

// The step that a request was answered with, from the entries that it made.
Step answered_step(std::span<const records::JobEntry> made) {
  if (const auto* const given_up = std::get_if<records::RecurrenceGivenUp>(&made.front().body)) {
    const records::FailedTries failed = given_up->failed.value_or(records::FailedTries{});
    return GiveUpStep{.tries = failed.tries, .never_reached = failed.never_reached};
  }
  return step_from(std::get<records::TryStarted>(made.front().body));
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

records::TryStarted started(const RunStep& step, std::uint64_t recurrence, bool told) {
  return {.event = {.try_number = step.number,
                    .recurrence = recurrence,
                    .batch_size = step.batch_size,
                    .purpose = step.purpose},
          .limit = step.limit,
          .max_epochs = step.max_epochs,
          .budget = step.budget,
          .seed = step.seed,
          .why = told ? step.why : std::string{}};
}

RunStep step_from(const records::TryStarted& started) {
  return {.number = started.event.try_number,
          .seed = started.seed,
          .batch_size = started.event.batch_size,
          .limit = started.limit,
          .max_epochs = started.max_epochs,
          .budget = started.budget,
          .purpose = started.event.purpose,
          .why = started.why};
}

Decided decide_step(const JobState& state, std::uint64_t recurrence,
                    const std::optional<optimize::ProfileAction>& answered_last, bool told) {
  optimize::Action action =
      unless_in_vain(state.job().next(recurrence, state.tries()), state.find(recurrence)->missed, state.ever_reached());
  if (const auto* profile = std::get_if<optimize::ProfileAction>(&action)) {
    const bool again =
        answered_last && answered_last->batch_size == profile->batch_size && answered_last->limits == profile->limits;
    if (!again) {
      return {
          .step = ProfileStep{.batch_size = profile->batch_size, .limits = profile->limits, .why = why(action, state)},
          .bodies = {}};
    }
    action = unmeasured(*profile, state.job().spec());
  }
  if (const auto* give_up = std::get_if<optimize::GiveUpAction>(&action)) {
    const records::FailedTries failed{.tries = give_up->tries, .never_reached = give_up->never_reached};
    return {.step = GiveUpStep{.tries = give_up->tries, .never_reached = give_up->never_reached},
            .bodies = {records::RecurrenceGivenUp{.recurrence = recurrence,
                                                  .reason = give_up->never_reached
                                                                ? "it missed the target, which has never been reached"
                                                                : fmt::format("{} tries failed", give_up->tries),
                                                  .failed = told ? std::optional{failed} : std::nullopt}}};
  }
  const auto& run = std::get<optimize::RunAction>(action);
  const RunStep step{.number = state.tries(),
                     .seed = seed_of_try(state, state.tries()),
                     .batch_size = run.batch_size,
                     .limit = run.limit,
                     .max_epochs = run.max_epochs,
                     .budget = run.budget,
                     .purpose = run.purpose,
                     .why = why(action, state)};
  return {.step = step, .bodies = {started(step, recurrence, told)}};
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
  std::optional<optimize::ProfileAction> asked;  // not answered in full yet
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
  if (const auto* const profile = std::get_if<ProfileStep>(&*step)) {
    impl_->asked = optimize::ProfileAction{.batch_size = profile->batch_size, .limits = profile->limits};
  }
  if (std::holds_alternative<GiveUpStep>(*step)) {
    impl_->done = true;
  }
  return std::move(*step);
}

Step Recurrence::next(const std::optional<ProfileStep>& answered_last) {
  impl_->asked.reset();
  if (answered_last) {
    impl_->asked = optimize::ProfileAction{.batch_size = answered_last->batch_size, .limits = answered_last->limits};
  }
  return next();
}

RunStep Recurrence::claim(int batch_size) {
  const bool told = impl_->is_told();
  std::optional<RunStep> step;
  impl_->append(
      [&](const JobState& state) {
        impl_->require_none_running(state);
        // The end of the try records its limit: several may have been in force.
        step = RunStep{.number = state.tries(),
                       .seed = seed_of_try(state, state.tries()),
                       .batch_size = batch_size,
                       .limit = {},
                       .max_epochs = state.definition().max_epochs,
                       .budget = {},
                       .why = "it has reached the target while its limits were measured"};
        return std::vector<records::JobEntryBody>{started(*step, impl_->number, told)};
      },
      [&](std::span<const records::JobEntry> made) {
        step = step_from(std::get<records::TryStarted>(made.front().body));
      });
  return std::move(*step);
}

void Recurrence::profiled(const records::LimitsMeasured& measured) {
  const records::JobEntryBody body = records::ProfileTaken{.event = {.recurrence = impl_->number,
                                                                     .batch_size = measured.batch_size,
                                                                     .limits = measured.limits,
                                                                     .energy = sum(measured.charged),
                                                                     .time = measured.time},
                                                           .gpus = measured.charged};
  impl_->append([&](const JobState& state) {
    static_cast<void>(impl_->open(state));
    return std::vector{body};
  });
}

void Recurrence::epochs(const records::EpochsTrained& trained) {
  impl_->append([&](const JobState& state) {
    const RunningTry& running = impl_->running(state, trained.try_number);
    require_no_fall(running, trained.epochs, trained.gpus, trained.time);
    return std::vector<records::JobEntryBody>{records::EpochsRun{.try_number = running.number,
                                                                 .recurrence = impl_->number,
                                                                 .epochs = trained.epochs,
                                                                 .metric = trained.metric,
                                                                 .gpus = trained.gpus,
                                                                 .time = trained.time}};
  });
}

void Recurrence::finished(const records::TryOver& over) {
  const bool measured = !over.gpus.empty() || over.outcome == records::TryOutcome::lost;
  if (!measured && !over.left_out) {
    throw Error{ErrorKind::invalid_argument, "the energy of the try is not known, but the try is not left out",
                "give the reason to leave it out"};
  }
  impl_->append([&](const JobState& state) {
    const RunningTry& running = impl_->running(state, over.try_number);
    require_no_fall(running, over.epochs, over.gpus, over.time);
    return std::vector<records::JobEntryBody>{records::TryFinished{.event = {.try_number = running.number,
                                                                             .recurrence = impl_->number,
                                                                             .batch_size = running.batch_size,
                                                                             .outcome = over.outcome,
                                                                             .epochs = over.epochs,
                                                                             .energy = sum(over.gpus),
                                                                             .time = over.time},
                                                                   .gpus = over.gpus,
                                                                   .limit = over.limit,
                                                                   .metric = over.metric,
                                                                   .exit_code = over.exit_code,
                                                                   .left_out = over.left_out,
                                                                   .whole_epochs = over.whole_epochs}};
  });
  impl_->done = reached(over.outcome);
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
