// Tries of trainings that only report their epochs and wait for the order to stop.
#include "jobs/job.hpp"
#include "jobs/job_impl.hpp"
#include "optimize/recurrence/reported_training.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::jobs {

namespace {

// The oldest recurrence that this user and place began in this way and whose last try has failed.
const OpenRecurrence* to_go_on_with(const JobState& state, const Beginning& beginning) {
  const auto theirs = std::ranges::find_if(state.open(), [&](const OpenRecurrence& open) {
    return !open.running && open.tries > 0 && open.user == beginning.user && open.owner.place == beginning.owner.place;
  });
  return theirs == state.open().end() ? nullptr : &*theirs;
}

// Runs without measuring limits first.
Decided decide_run(const JobState& state, std::uint64_t recurrence, bool told) {
  Decided decided = decide_step(state, recurrence, {}, told);
  if (const auto* const asked = std::get_if<records::ProfileAsked>(&decided.step)) {
    decided = decide_step(state, recurrence, *asked, told);
  }
  return decided;
}

// The limit in force, if there is no choice.
std::optional<Watts> only_limit(const records::JobDevice& device) {
  return device.power_limits.size() == 1 ? std::optional{device.power_limits.front()} : std::nullopt;
}

// Each rank reports for itself, and may have seen less of the try than an earlier report of another rank: totals never
// fall.
records::TryProgress at_least(records::TryProgress report, const RunningTry& known) {
  report.time = std::max(report.time, known.time);
  if (!report.gpus.empty() && sum(report.gpus) < known.energy) {
    report.gpus = {{.gpu = report.gpus.front().gpu,
                    .energy = {.value = known.energy,
                               .uncertainty = known.uncertainty,
                               .systematic = std::nullopt,
                               .method = report.gpus.front().energy.method}}};
  }
  return report;
}

}  // namespace

records::TryStarted Job::issue(const records::JobDevice& device, const Beginning& beginning) {
  impl_->give_up_the_dead();
  const bool told = !beginning.request.key.empty();
  records::TryStarted issued;
  impl_->append(
      beginning.request,
      [&](const JobState& state) {
        std::vector<records::JobEntryBody> bodies;
        // The state once these are appended too.
        JobState then = state;
        const auto add = [&](const std::vector<records::JobEntryBody>& more) {
          for (const records::JobEntryBody& body : more) {
            then.apply({.sequence = then.sequence() + 1, .written = {}, .body = body});
            bodies.push_back(body);
          }
        };
        while (const OpenRecurrence* const open = to_go_on_with(then, beginning)) {
          const std::uint64_t number = open->number;
          const Decided decided = decide_run(then, number, told);
          add(decided.bodies);
          if (const auto* const run = std::get_if<records::TryStarted>(&decided.step)) {
            issued = *run;
            return bodies;
          }
        }
        const std::uint64_t number = then.recurrences();
        add(beginning_of(then, device, beginning));
        const Decided decided = decide_run(then, number, told);
        add(decided.bodies);
        issued = std::get<records::TryStarted>(decided.step);
        return bodies;
      },
      [&](std::span<const records::JobEntry> made) { issued = first<records::TryStarted>(made); });
  return issued;
}

std::pair<EpochAnswer, std::vector<records::JobEntryBody>> Job::answer(std::uint64_t number,
                                                                       const records::TryProgress& told,
                                                                       const JobState& state) const {
  const OpenRecurrence* const open = state.find_running(number);
  const PastTry* const past = open == nullptr ? state.find_past(number) : nullptr;
  if (open == nullptr && past == nullptr) {
    throw Error{ErrorKind::not_found,
                number < state.tries() ? fmt::format("try {} of the job '{}' is long over", number + 1, name())
                                       : fmt::format("no try {} of the job '{}' has started", number + 1, name()),
                "ask for a batch size"};
  }
  const RunningTry& known = open != nullptr ? *open->running : past->last;
  const records::TryProgress report = at_least(told, known);
  const Joules energy = sum(report.gpus);
  const records::JobDefinition& definition = state.definition();
  const optimize::Judgement judgement{.target = definition.target,
                                      .max_epochs = known.max_epochs,
                                      .job_epochs = definition.max_epochs,
                                      .budget = known.budget};
  const Joules cost = state.cost_on(open != nullptr ? open->device.max_power : past->max_power, energy, report.time);
  const bool lost = past != nullptr && past->outcome == records::TryOutcome::lost;
  optimize::ReportedTraining training{.costs = known.costs, .outcome = {}};
  if (past != nullptr) {
    training.outcome = lost ? past->told : past->outcome;
  }
  const optimize::ReportVerdict verdict = judged(
      judgement, training, {.epochs = report.epochs, .metric = report.metric.value_or(std::nan("")), .cost = cost});
  const EpochAnswer answer{.outcome = verdict.outcome, .decided_before = lost || !verdict.decides};
  std::vector<records::JobEntryBody> bodies;
  if (verdict.decides && lost) {
    bodies.emplace_back(records::LateReport{
        .try_number = known.number, .recurrence = past->recurrence, .outcome = verdict.outcome, .progress = report});
  } else if (verdict.decides && verdict.outcome) {
    bodies.emplace_back(records::TryFinished{
        .try_number = known.number,
        .recurrence = open->number,
        .batch_size = known.batch_size,
        .energy = energy,
        .result = {.outcome = *verdict.outcome, .progress = report, .limit = only_limit(open->device)}});
  } else if (verdict.decides) {
    bodies.emplace_back(records::EpochsRun{.try_number = known.number, .recurrence = open->number, .progress = report});
  }
  return {answer, std::move(bodies)};
}

EpochAnswer Job::report(std::uint64_t try_number, const records::TryProgress& progress, const Request& request) {
  EpochAnswer answer;
  impl_->append(
      request,
      [&](const JobState& state) {
        auto [said, bodies] = this->answer(try_number, progress, state);
        answer = said;
        return std::move(bodies);
      },
      [&](std::span<const records::JobEntry> made) {
        answer = {};
        if (const auto* const finished = std::get_if<records::TryFinished>(&made.front().body)) {
          answer.outcome = finished->result.outcome;
        } else if (const auto* const late = std::get_if<records::LateReport>(&made.front().body)) {
          answer = {.outcome = late->outcome, .decided_before = true};
        }
      });
  return answer;
}

void Job::lose(std::uint64_t try_number) {
  impl_->append([&](const JobState& state) {
    std::vector<records::JobEntryBody> bodies;
    if (const OpenRecurrence* const open = state.find_running(try_number)) {
      bodies.emplace_back(lost(*open));
    } else if (try_number >= state.tries()) {
      throw Error{ErrorKind::not_found, fmt::format("no try {} of the job '{}' has started", try_number + 1, name()),
                  "ask for a batch size"};
    }
    return bodies;
  });
}

std::optional<KnownTry> Job::find_try(std::uint64_t number) const {
  const JobState& state = impl_->state();
  if (const OpenRecurrence* const open = state.find_running(number)) {
    return KnownTry{.number = number, .batch_size = open->running->batch_size, .user = open->user, .outcome = {}};
  }
  if (const PastTry* const past = state.find_past(number)) {
    return KnownTry{
        .number = number, .batch_size = past->last.batch_size, .user = past->user, .outcome = past->outcome};
  }
  return std::nullopt;
}

std::optional<Seconds> Job::longest_epoch() const {
  return impl_->state().longest_epoch();
}

}  // namespace zeus::jobs
