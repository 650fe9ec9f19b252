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

Joules sum(const std::vector<records::GpuEnergy>& gpus) {
  Joules whole;
  for (const records::GpuEnergy& gpu : gpus) {
    whole += gpu.energy.value;
  }
  return whole;
}

Error over_error(std::uint64_t recurrence) {
  return {ErrorKind::conflict,
          fmt::format("recurrence {} is over: it ended, or was given up because no sign of life of it was seen",
                      recurrence),
          "begin another one; what this one still reports is not counted"};
}

}  // namespace

struct Recurrence::Impl {
  Impl(Job::Impl& of, std::uint64_t which) : job{&of}, number{which}, last_beat{of.site.clock.now()} {}

  // As it is on record now; a conflict Error when it is over.
  [[nodiscard]] const OpenRecurrence& open(const JobState& state) const {
    const OpenRecurrence* const known = state.find(number);
    if (known == nullptr) {
      throw over_error(number);
    }
    return *known;
  }
  [[nodiscard]] const RunningTry& running(const JobState& state) const {
    const OpenRecurrence& known = open(state);
    if (!known.running) {
      throw Error{ErrorKind::invalid_argument, fmt::format("no try of recurrence {} is running", number),
                  "ask what to do next first"};
    }
    return *known.running;
  }

  void require_none_running(const JobState& state) const {
    if (open(state).running) {
      throw Error{ErrorKind::invalid_argument, fmt::format("a try of recurrence {} is running", number),
                  "say how it ended first"};
    }
  }
  // A try begins as decided.
  [[nodiscard]] RunStep step_of(const optimize::RunAction& run, const JobState& state, std::string reason) const {
    return {.number = state.tries(),
            .seed = job->seed_of_try(state.tries()),
            .batch_size = run.batch_size,
            .limit = run.limit,
            .max_epochs = run.max_epochs,
            .budget = run.budget,
            .purpose = run.purpose,
            .why = std::move(reason)};
  }
  [[nodiscard]] std::vector<records::JobEntryBody> started(const RunStep& step) const {
    return {records::TryStarted{.event = {.try_number = step.number,
                                          .recurrence = number,
                                          .batch_size = step.batch_size,
                                          .purpose = step.purpose},
                                .limit = step.limit,
                                .max_epochs = step.max_epochs,
                                .budget = step.budget,
                                .seed = step.seed}};
  }

  Job::Impl* job;
  std::uint64_t number;
  bool done = false;
  std::optional<optimize::ProfileAction> asked;  // and not answered with all that was asked for
  std::atomic<Instant> last_beat;
};

Recurrence::Recurrence(Job::Impl& job, std::uint64_t number) : impl_{std::make_unique<Impl>(job, number)} {
}
Recurrence::Recurrence(Recurrence&&) noexcept = default;

Recurrence::~Recurrence() {
  if (impl_ == nullptr || impl_->done) {
    return;
  }
  try {
    give_up("it was left unfinished");
  } catch (const std::exception&) {
    // Its owner will be found dead.
  }
}

std::uint64_t Recurrence::number() const {
  return impl_->number;
}

bool Recurrence::over() const {
  return impl_->done;
}

Step Recurrence::next() {
  Job::Impl& job = *impl_->job;
  job.give_up_the_dead();
  std::optional<Step> step;
  job.append([&](const JobState& state) -> std::vector<records::JobEntryBody> {
    impl_->require_none_running(state);
    optimize::Action action =
        unless_in_vain(state.job().next(impl_->number, state.tries()), impl_->open(state).missed, state.ever_reached());
    if (const auto* profile = std::get_if<optimize::ProfileAction>(&action)) {
      const bool again =
          impl_->asked && impl_->asked->batch_size == profile->batch_size && impl_->asked->limits == profile->limits;
      if (!again) {
        impl_->asked = *profile;
        step = ProfileStep{.batch_size = profile->batch_size, .limits = profile->limits, .why = why(action, state)};
        return {};
      }
      action = unmeasured(*profile, state.job().spec());
    }
    if (const auto* give_up = std::get_if<optimize::GiveUpAction>(&action)) {
      step = GiveUpStep{.tries = give_up->tries, .never_reached = give_up->never_reached};
      return {records::RecurrenceGivenUp{.recurrence = impl_->number,
                                         .reason = give_up->never_reached
                                                       ? "it missed the target, which has never been reached"
                                                       : fmt::format("{} tries failed", give_up->tries)}};
    }
    const RunStep run = impl_->step_of(std::get<optimize::RunAction>(action), state, why(action, state));
    step = run;
    return impl_->started(run);
  });
  if (std::holds_alternative<GiveUpStep>(*step)) {
    impl_->done = true;
  }
  return std::move(*step);
}

RunStep Recurrence::claim(int batch_size) {
  std::optional<RunStep> step;
  impl_->job->append([&](const JobState& state) {
    impl_->require_none_running(state);
    // Under which limit it ran is told by its end: several may have been in force.
    step = impl_->step_of(
        {.batch_size = batch_size, .limit = {}, .max_epochs = state.definition().max_epochs, .budget = {}}, state,
        "it has reached the target while its limits were measured");
    return impl_->started(*step);
  });
  return std::move(*step);
}

void Recurrence::profiled(const Profiled& profiled) {
  const records::JobEntryBody body = records::ProfileTaken{.event = {.recurrence = impl_->number,
                                                                     .batch_size = profiled.batch_size,
                                                                     .limits = profiled.limits,
                                                                     .energy = sum(profiled.charged),
                                                                     .time = profiled.time},
                                                           .gpus = profiled.charged};
  impl_->job->append([&](const JobState& state) {
    static_cast<void>(impl_->open(state));
    return std::vector{body};
  });
}

void Recurrence::epochs(const Progress& progress) {
  impl_->job->append([&](const JobState& state) {
    return std::vector<records::JobEntryBody>{records::EpochsRun{.try_number = impl_->running(state).number,
                                                                 .recurrence = impl_->number,
                                                                 .epochs = progress.epochs,
                                                                 .metric = progress.metric,
                                                                 .gpus = progress.gpus,
                                                                 .time = progress.time}};
  });
}

void Recurrence::finished(const Finished& finished) {
  const bool measured = !finished.gpus.empty() || finished.outcome == records::TryOutcome::lost;
  if (!measured && !finished.left_out) {
    throw Error{ErrorKind::invalid_argument, "the energy of a try is not known, yet it is to count",
                "say why it is left out"};
  }
  impl_->job->append([&](const JobState& state) {
    const RunningTry& running = impl_->running(state);
    return std::vector<records::JobEntryBody>{records::TryFinished{.event = {.try_number = running.number,
                                                                             .recurrence = impl_->number,
                                                                             .batch_size = running.batch_size,
                                                                             .outcome = finished.outcome,
                                                                             .epochs = finished.epochs,
                                                                             .energy = sum(finished.gpus),
                                                                             .time = finished.time},
                                                                   .gpus = finished.gpus,
                                                                   .limit = finished.limit,
                                                                   .metric = finished.metric,
                                                                   .exit_code = finished.exit_code,
                                                                   .left_out = finished.left_out,
                                                                   .whole_epochs = finished.whole_epochs}};
  });
  impl_->done = reached(finished.outcome);
  impl_->asked.reset();
}

void Recurrence::give_up(const std::string& reason) {
  impl_->job->append([&](const JobState& state) { return ending(impl_->open(state), reason); });
  impl_->done = true;
}

void Recurrence::beat() {
  const Instant now = impl_->job->site.clock.now();
  if (now - impl_->last_beat.load() < between_beats) {
    return;
  }
  impl_->last_beat = now;
  impl_->job->store->beat(impl_->job->stored.id, impl_->number);
}

}  // namespace zeus::jobs
