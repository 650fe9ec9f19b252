// Operations on one recurrence: those of jobs::Recurrence, one request each.

#include "jobs/job.hpp"
#include "jobs/job_state.hpp"
#include "optimize/batch_size/profile_book.hpp"
#include "protocol/jobs_api.hpp"
#include "server/parameters.hpp"
#include "server/problem.hpp"
#include "server/requests.hpp"
#include "server/route.hpp"
#include "server/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::server {

using protocol::Scope;

namespace {

constexpr Seconds usual_lease{120.0};

const jobs::OpenRecurrence* find_open(const jobs::Job& job, std::uint64_t number) {
  const auto open = job.open_recurrences();
  const auto found = std::ranges::find(open, number, &jobs::OpenRecurrence::number);
  return found == open.end() ? nullptr : &*found;
}

// Allows the user who began it, and administrators.
void check_owner(const Call& call, const jobs::OpenRecurrence& open) {
  if (open.user != call.visitor().user && !call.visitor().may(Scope::jobs_admin)) {
    throw Refusal{forbidden, ErrorKind::permission_denied,
                  fmt::format("recurrence {} was begun by another user", open.number + 1),
                  "report with the token that it was begun with"};
  }
}

// Calls `work` with the recurrence in the path, if it is this user's.
template <typename Work>
auto with_recurrence(Service& service, const Call& call, std::string_view operation, const Work& work) {
  return service.jobs.with(call.text("job"), [&](jobs::Job& job) {
    const std::uint64_t number = call.number("recurrence") - 1;
    job.refresh();
    if (const jobs::OpenRecurrence* const open = find_open(job, number)) {
      check_owner(call, *open);
    }
    jobs::Recurrence recurrence = job.resume(number, request_of(call, operation));
    return work(job, recurrence);
  });
}

void check_batch_size(const jobs::Job& job, int batch_size) {
  const std::vector<int>& sizes = job.spec().batch_sizes;
  if (std::ranges::find(sizes, batch_size) == sizes.end()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not a batch size of this job", batch_size),
                "report on one that was requested"};
  }
}

protocol::KnownOfBatchSize known_of(jobs::Job& job, int batch_size) {
  protocol::KnownOfBatchSize known{.limits = job.limits(batch_size),
                                   .best_limit = {},
                                   .run_time = job.run_time(batch_size),
                                   .has_worked = false,
                                   .others_have_worked = false};
  if (!known.limits.empty()) {
    known.best_limit = optimize::best_limit(job.spec(), known.limits);
  }
  for (const records::ArmView& arm : job.overview(0).arms) {
    (arm.batch_size == batch_size ? known.has_worked : known.others_have_worked) |= arm.reached > 0;
  }
  return known;
}

protocol::RunAnswer answer_of(jobs::Job& job, const records::TryStarted& step) {
  return {.try_number = step.event.try_number + 1,
          .seed = step.seed,
          .plan = step.event.plan,
          .why = step.why,
          .known = known_of(job, step.event.plan.batch_size)};
}

protocol::NextAnswer answer_of(jobs::Job& job, const jobs::Step& step) {
  if (const auto* const run = std::get_if<records::TryStarted>(&step)) {
    return answer_of(job, *run);
  }
  if (const auto* const asked = std::get_if<records::ProfileAsked>(&step)) {
    return protocol::ProfileAnswer{
        .asked = *asked, .seed = job.seed_of_next_try(), .known = known_of(job, asked->batch_size)};
  }
  return protocol::GiveUpAnswer{.failed = std::get<records::FailedTries>(step)};
}

protocol::RecurrenceNow now_of(const jobs::Recurrence& recurrence,
                               records::RecurrenceState state = records::RecurrenceState::running) {
  return {.recurrence = recurrence.number() + 1, .state = state};
}

Created<protocol::BegunRecurrence> begin(Service& service, const Call& call, const protocol::BeginRecurrence& body) {
  return service.jobs.with(call.text("job"), [&](jobs::Job& job) {
    const jobs::Recurrence recurrence = job.begin(
        body.device,
        {.owner = body.owner, .user = call.visitor().user, .lease = body.lease, .request = request_of(call, "begin")});
    return Created<protocol::BegunRecurrence>{
        {.recurrence = recurrence.number() + 1,
         .definition = job.definition(),
         .device = body.device,
         .cost = {.energy_share = job.spec().eta, .max_power = job.spec().max_power},
         .lease = body.lease.value_or(usual_lease)}};
  });
}

protocol::NextAnswer next(Service& service, const Call& call, const protocol::AskNext& body) {
  return with_recurrence(service, call, "next", [&](jobs::Job& job, jobs::Recurrence& recurrence) {
    return answer_of(job, recurrence.next(body.unmeasured));
  });
}

protocol::ClaimAnswer claim(Service& service, const Call& call, const protocol::ClaimTry& body) {
  return with_recurrence(service, call, "claim", [&](jobs::Job& job, jobs::Recurrence& recurrence) {
    check_batch_size(job, body.batch_size);
    return protocol::ClaimAnswer{answer_of(job, recurrence.claim(body.batch_size))};
  });
}

protocol::KnownOfBatchSize profiled(Service& service, const Call& call, const records::LimitsMeasured& body) {
  return with_recurrence(service, call, "profiled", [&](jobs::Job& job, jobs::Recurrence& recurrence) {
    check_batch_size(job, body.batch_size);
    recurrence.profiled(body);
    return known_of(job, body.batch_size);
  });
}

protocol::RecurrenceNow epochs(Service& service, const Call& call, const records::EpochsTrained& body) {
  return with_recurrence(service, call, "epochs", [&](jobs::Job&, jobs::Recurrence& recurrence) {
    recurrence.epochs(body.progress, body.try_number);
    return now_of(recurrence);
  });
}

protocol::RecurrenceNow finished(Service& service, const Call& call, const records::TryOver& body) {
  return with_recurrence(service, call, "finished", [&](jobs::Job&, jobs::Recurrence& recurrence) {
    recurrence.finished(body.result, body.try_number);
    return now_of(recurrence,
                  reached(body.result.outcome) ? records::RecurrenceState::reached : records::RecurrenceState::running);
  });
}

protocol::RecurrenceNow give_up(Service& service, const Call& call, const protocol::GiveUpRecurrence& body) {
  return with_recurrence(service, call, "give_up", [&](jobs::Job&, jobs::Recurrence& recurrence) {
    recurrence.give_up(body.reason);
    return now_of(recurrence, records::RecurrenceState::given_up);
  });
}

protocol::RecurrenceNow beat(Service& service, const Call& call, const protocol::Beat& body) {
  return with_recurrence(service, call, "beat", [&](jobs::Job& job, jobs::Recurrence& recurrence) {
    if (find_open(job, recurrence.number()) == nullptr) {
      throw Error{ErrorKind::conflict, fmt::format("recurrence {} is over", recurrence.number() + 1),
                  "begin another one"};
    }
    recurrence.beat(body.gpus.empty() ? std::string{} : records::json_line(body));
    return now_of(recurrence);
  });
}

Operation operation(std::string_view id, std::string_view path, std::string_view summary) {
  return {.id = id,
          .method = "POST",
          .path = path,
          .needs = Scope::jobs_write,
          .summary = summary,
          .parameters = {job_parameter(), recurrence_parameter(), key_parameter()}};
}

}  // namespace

std::vector<Route> recurrence_routes() {
  return {
      route({"beginRecurrence",
             "POST",
             "/api/v1/jobs/{job}/recurrences",
             Scope::jobs_write,
             "Begin a recurrence on these devices",
             {job_parameter(), key_parameter()}},
            begin),
      route(operation("askNext", "/api/v1/jobs/{job}/recurrences/{recurrence}/next",
                      "Ask for the next step: run a try, measure limits, or give up"),
            next),
      route(
          operation("claimTry", "/api/v1/jobs/{job}/recurrences/{recurrence}/claim",
                    "Report that the training whose limits were measured has reached the target, and becomes the try"),
          claim),
      route(operation("tellLimits", "/api/v1/jobs/{job}/recurrences/{recurrence}/profiled", "Report measured limits"),
            profiled),
      route(operation("tellEpochs", "/api/v1/jobs/{job}/recurrences/{recurrence}/epochs", "Report the try's progress"),
            epochs),
      route(operation("finishTry", "/api/v1/jobs/{job}/recurrences/{recurrence}/finished", "Report how the try ended"),
            finished),
      route(operation("giveUpRecurrence", "/api/v1/jobs/{job}/recurrences/{recurrence}/give_up",
                      "End the recurrence without a model"),
            give_up),
      route(operation("beat", "/api/v1/jobs/{job}/recurrences/{recurrence}/beat",
                      "Send a beat, with readings of the GPUs"),
            beat),
  };
}

}  // namespace zeus::server
