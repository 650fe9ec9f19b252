#include "server/existing_routes.hpp"

#include "base/printable.hpp"
#include "protocol/query.hpp"
#include "records/json_value.hpp"
#include "records/json_writer.hpp"
#include "server/existing_spec.hpp"
#include "server/parameters.hpp"
#include "server/problem.hpp"
#include "server/requests.hpp"
#include "server/route.hpp"
#include "server/service.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::server {

namespace {

constexpr int bad_request = 400;
constexpr int conflict = 409;
constexpr int unprocessable = 422;
constexpr std::size_t longest_body = std::size_t{64} * 1024;

constexpr std::string_view takes_header = "Zeus-Takes";
constexpr std::string_view gives_header = "Zeus-Gives";
constexpr std::string_view beats = "beats";
constexpr std::string_view beat_path_header = "Zeus-Beat-Path";

// What owners store as the place of such clients' processes. Clients that send beats and clients that do not have
// different places, because their leases differ.
constexpr std::string_view silent_place = "existing client";
constexpr std::string_view beating_place = "existing client that beats";

constexpr Seconds shortest_silence{3600.0};
constexpr double epochs_of_silence = 10.0;
constexpr Seconds between_counts{0.1};

transport::Answer refusal(int status, std::string_view message) {
  return json_answer(status, records::json_line(ExistingRefusal{.message = std::string{message}}));
}

transport::Answer refuse(const Error& error) {
  const ShownError shown = server::shown(error);
  return refusal(status_of(error), shown.advice.empty() ? shown.detail : shown.detail + ": " + shown.advice);
}

[[noreturn]] void refuse(int status, std::string message) {
  throw Refusal{status, ErrorKind::invalid_argument, std::move(message)};
}

transport::Answer answer(const ExistingFaults& faults) {
  return json_answer(unprocessable, to_json(faults));
}

transport::Answer nothing() {
  return json_answer(200, "null");
}

// A body without a type is JSON: these clients send no type.
template <typename Body>
ExistingRead<Body> read(const Call& call) {
  const std::optional<std::string_view> type = call.request().headers.get("Content-Type");
  if (type && !type->empty() && !type->starts_with("application/json") &&
      !type->starts_with("application/problem+json")) {
    return no_object();
  }
  return read_existing<Body>(call.body());
}

// Calls `work` with what was read, unless there are faults.
template <typename Value, typename Work>
transport::Answer with(const ExistingRead<Value>& read, const Work& work) {
  if (const auto* const faults = std::get_if<ExistingFaults>(&read)) {
    return answer(*faults);
  }
  return work(std::get<Value>(read));
}

// The job that a request names, if it does.
template <typename Body>
std::string job_in_body(const Call& call) {
  const ExistingRead<Body> body = read<Body>(call);
  if (const auto* const known = std::get_if<Body>(&body)) {
    if constexpr (requires { known->trial; }) {
      return known->trial.job_id;
    } else if constexpr (requires { known->job_id.value(); }) {
      return known->job_id.value_or("");
    } else {
      return known->job_id;
    }
  }
  return {};
}

std::string job_in_query(const Call& call) {
  const ExistingRead<std::string> job = read_existing_job(call.request().query);
  const auto* const known = std::get_if<std::string>(&job);
  return known == nullptr ? std::string{} : *known;
}

// Avoids asking the store for a name that no job can have.
bool can_be_a_name(std::string_view name) {
  const auto control = [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; };
  if (name.empty() || std::ranges::any_of(name, control)) {
    return false;
  }
  // Invalid UTF-8 changes on its way through JSON.
  const std::optional<records::JsonValue> same = records::JsonValue::parse(records::json_line(name));
  return same && same->string() != nullptr && *same->string() == name;
}

// Answers with the status `missing` if there is no such job.
template <typename Work>
transport::Answer with_job(Service& service, const std::string& name, int missing, const Work& work) {
  if (!can_be_a_name(name)) {
    return refusal(missing, "there is no job of that name");
  }
  try {
    return service.jobs.with(name, work);
  } catch (const Refusal&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) {
      throw;
    }
    return refusal(missing, error.message());
  }
}

// Only the user who began it may report on it.
void require_own(const jobs::KnownTry& known, const Visitor& visitor) {
  if (known.user != visitor.user && !visitor.may(protocol::Scope::jobs_admin)) {
    refuse(forbidden, fmt::format("trial {} is another user's", known.number + 1));
  }
}

// Our try for a trial; nothing if the job has none of that number and batch size.
std::optional<jobs::KnownTry> find_try(jobs::Job& job, const ExistingTrial& trial) {
  if (trial.trial_number < 1) {
    return std::nullopt;
  }
  job.refresh();
  std::optional<jobs::KnownTry> known = job.find_try(static_cast<std::uint64_t>(trial.trial_number) - 1);
  return known && known->batch_size == trial.batch_size ? known : std::nullopt;
}

std::string no_such_trial(const ExistingTrial& trial) {
  return fmt::format("the job '{}' has no trial {} of batch size {}, or it ended long ago", trial.job_id,
                     trial.trial_number, trial.batch_size);
}

void require_same(const jobs::Job& job, const records::JobDefinition& asked) {
  const std::vector<std::string> differences = existing_differences(job.definition(), asked);
  if (!differences.empty()) {
    refuse(conflict, fmt::format("the job '{}' is registered differently: {}; use another job_id for another job",
                                 job.name(), fmt::join(differences, "; ")));
  }
}

transport::Answer register_job(Service& service, const Call& call) {
  return with(read<ExistingSpec>(call), [&](ExistingSpec spec) {
    if (!spec.job_id) {
      spec.job_id = made_job_id(spec.job_id_prefix);
    }
    records::JobDefinition asked;
    try {
      asked = definition_of(spec, *spec.job_id);
    } catch (const Error& error) {
      return answer({{.place = {"body", "__root__"}, .message = error.message(), .type = "value_error", .limit = {}}});
    }
    bool made = false;
    try {
      service.jobs.with(*spec.job_id, [&](jobs::Job& job) {
        job.refresh();
        require_same(job, asked);
      });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) {
        throw;
      }
      const store::JobOrigin origin{.user = call.visitor().user, .request = {}, .most_jobs = service.jobs_of_a_user};
      made = service.jobs.with_defined(*spec.job_id, asked, origin, [&](jobs::Job& job) {
        require_same(job, asked);
        return true;
      });
    }
    transport::Answer told = json_answer(made ? 201 : 200, records::json_line(spec));
    told.headers.add(takes_header, beats);
    return told;
  });
}

transport::Answer choose_batch_size(Service& service, const Call& call) {
  return with(read_existing_job(call.request().query), [&](const std::string& name) {
    if (const auto key = call.request().headers.get(idempotency_key); key && printable(*key) != *key) {
      refuse(bad_request, "the Idempotency-Key is not printable UTF-8");
    }
    const bool is_beating = call.request().headers.get(gives_header) == beats;
    return with_job(service, name, bad_request, [&](jobs::Job& job) {
      job.refresh();
      // A copy, because the job may change its own while it decides.
      const records::JobDefinition definition = job.definition();
      if (!definition.target || definition.batch_sizes.empty()) {
        refuse(bad_request, fmt::format("the job '{}' has no target or no batch sizes, so clients that only ask for "
                                        "these can run it",
                                        name));
      }
      const jobs::Beginning beginning{
          .owner = {.host = {},
                    .place = std::string{is_beating ? beating_place : silent_place},
                    .process = {.pid = 0, .started = 0, .command = "BatchSizeOptimizer"}},
          .user = call.visitor().user,
          .lease = is_beating ? std::nullopt : std::optional{existing_lease(job.longest_epoch())},
          .request = request_of(call, "batch size")};
      const records::TryStarted issued = job.issue(definition.device, beginning);
      transport::Answer told = json_answer(
          200,
          records::json_line(ExistingTrial{.job_id = name,
                                           .batch_size = issued.event.plan.batch_size,
                                           .trial_number = static_cast<std::int64_t>(issued.event.try_number) + 1}));
      if (is_beating) {
        told.headers.add(beat_path_header, fmt::format("/api/v1/jobs/{}/recurrences/{}/beat",
                                                       protocol::percent_encoded(name), issued.event.recurrence + 1));
      }
      return told;
    });
  });
}

transport::Answer report_epoch(Service& service, const Call& call) {
  return with(read<ExistingResult>(call), [&](const ExistingResult& result) {
    return with_job(service, result.trial.job_id, bad_request, [&](jobs::Job& job) {
      const std::optional<jobs::KnownTry> known = find_try(job, result.trial);
      if (!known) {
        refuse(bad_request, no_such_trial(result.trial));
      }
      require_own(*known, call.visitor());
      const jobs::EpochAnswer said = job.report(known->number, progress_of(result, job.definition().device));
      return json_answer(
          200, records::json_line(existing_verdict(result, said, known->outcome == records::TryOutcome::lost)));
    });
  });
}

transport::Answer end_trial(Service& service, const Call& call) {
  return with(read<ExistingTrial>(call), [&](const ExistingTrial& trial) {
    return with_job(service, trial.job_id, not_found, [&](jobs::Job& job) {
      const std::optional<jobs::KnownTry> known = find_try(job, trial);
      if (!known) {
        refuse(not_found, no_such_trial(trial));
      }
      require_own(*known, call.visitor());
      job.lose(known->number);
      return nothing();
    });
  });
}

transport::Answer forget_job(Service& service, const Call& call) {
  return with(read_existing_job(call.request().query), [&](const std::string& name) {
    const bool was_there = can_be_a_name(name) && service.store.forget(name);
    service.jobs.close(name);
    return was_there ? nothing() : refusal(not_found, fmt::format("there is no job {}", in_quotes(name)));
  });
}

using records::JsonSchema;
using records::SharedSchema;

SharedSchema shared(JsonSchema schema) {
  return std::make_shared<const JsonSchema>(std::move(schema));
}

Outcome refused_as(int status, std::string_view meaning) {
  return {.status = status, .meaning = meaning, .schema = records::shared_schema<ExistingRefusal>()};
}

// In the form of to_json(ExistingFaults): places mix words and numbers.
Outcome faulty() {
  const SharedSchema text = shared({.kind = JsonSchema::Kind::string});
  const SharedSchema whole = shared({.kind = JsonSchema::Kind::whole});
  const SharedSchema step = shared({.kind = JsonSchema::Kind::one_of, .kinds = {text, whole}});
  const SharedSchema limit = shared(
      {.kind = JsonSchema::Kind::record, .name = "ExistingLimit", .fields = {{.key = "limit_value", .schema = whole}}});
  const SharedSchema fault =
      shared({.kind = JsonSchema::Kind::record,
              .name = "ExistingFault",
              .fields = {{.key = "loc", .schema = shared({.kind = JsonSchema::Kind::list, .of = step})},
                         {.key = "msg", .schema = text},
                         {.key = "type", .schema = text},
                         {.key = "ctx", .schema = limit, .required = false}}});
  return {.status = unprocessable,
          .meaning = "the faults of the request",
          .schema =
              shared({.kind = JsonSchema::Kind::record,
                      .name = "ExistingFaults",
                      .fields = {{.key = "detail", .schema = shared({.kind = JsonSchema::Kind::list, .of = fault})}}})};
}

Outcome done() {
  return {
      .status = 200, .meaning = "done: `null`", .schema = shared({.kind = JsonSchema::Kind::string, .nullable = true})};
}

Parameter job_in_query_parameter() {
  Parameter job = text_parameter("job_id", jobs::longest_job_name, "The job");
  job.required = true;
  return job;
}

}  // namespace

Seconds existing_lease(std::optional<Seconds> longest_epoch) {
  return std::max(shortest_silence, epochs_of_silence * longest_epoch.value_or(Seconds{}));
}

records::TryProgress progress_of(const ExistingResult& result, const records::JobDevice& device) {
  return {.epochs = result.current_epoch,
          .metric = result.metric.value_or(std::numeric_limits<double>::quiet_NaN()),
          .gpus = {{.gpu = to_text(device),
                    .energy = {.value = result.energy,
                               .uncertainty = device.max_power * between_counts,
                               .systematic = std::nullopt,
                               .method = EnergyMethod::counter}}},
          .time = result.time};
}

ExistingVerdict existing_verdict(const ExistingResult& result, const jobs::EpochAnswer& answer, bool given_up) {
  if (!answer.outcome) {
    return {.stop_train = false, .converged = false, .message = "The target is not reached yet: train on."};
  }
  const bool converged = reached(*answer.outcome);
  const auto say = [&](std::string message) {
    return ExistingVerdict{.stop_train = true, .converged = converged, .message = std::move(message)};
  };
  const std::string trial = fmt::format("Trial {}{}", result.trial.trial_number,
                                        given_up ? ", which was given up and counts for nothing," : "");
  if (answer.decided_before && !given_up) {
    return say(fmt::format("The result of trial {} is already reported.", result.trial.trial_number));
  }
  constexpr std::string_view next_one = "the next trial is chosen independently, and may have this batch size again";
  switch (*answer.outcome) {
    case records::TryOutcome::reached:
      return say(fmt::format("{} has reached the target.", trial));
    case records::TryOutcome::stopped:
      return say(fmt::format("{} stops: another epoch at batch size {} would exceed the cost upper bound; {}.", trial,
                             result.trial.batch_size, next_one));
    case records::TryOutcome::exhausted:
      return say(fmt::format("{} ends: Train failed to converge within max_epoch({}); {}.", trial, result.current_epoch,
                             next_one));
    case records::TryOutcome::lost:
      break;
  }
  return say(fmt::format("{} was given up.", trial));
}

std::vector<Route> existing_routes() {
  const auto base = [](std::string_view id, std::string_view method, std::string_view path, protocol::Scope scope,
                       std::string_view summary) {
    Route route{.id = id, .method = method, .path = path, .needs = scope, .summary = summary};
    route.refuse = [](const Error& error) { return refuse(error); };
    route.refusal = records::shared_schema<ExistingRefusal>();
    route.checks_query = false;
    route.longest_body = longest_body;
    return route;
  };
  Route registration = base("registerExistingJob", "POST", "/jobs", protocol::Scope::jobs_write,
                            "Register a job, as the existing package's clients do");
  registration.body = records::shared_schema<ExistingSpec>();
  registration.outcomes = {
      {.status = 201, .meaning = "it is new", .schema = records::shared_schema<ExistingSpec>()},
      {.status = 200, .meaning = "it was registered already", .schema = records::shared_schema<ExistingSpec>()},
      refused_as(forbidden, "this user has the most jobs allowed"),
      refused_as(conflict, "it is registered differently"),
      faulty()};
  registration.work = register_job;
  registration.job_of = job_in_body<ExistingSpec>;

  Route choice = base("chooseExistingBatchSize", "GET", "/jobs/batch_size", protocol::Scope::jobs_write,
                      "The batch size of a new trial");
  choice.parameters = {job_in_query_parameter(), key_parameter(),
                       word_parameter(gives_header, {std::string{beats}},
                                      "The training will send beats to the path in the answer's Zeus-Beat-Path")};
  choice.parameters.back().place = Parameter::Place::header;
  choice.outcomes = {{.status = 200, .meaning = "a new trial", .schema = records::shared_schema<ExistingTrial>()},
                     refused_as(bad_request, "there is no such job"),
                     faulty()};
  choice.work = choose_batch_size;
  choice.job_of = job_in_query;

  Route report = base("reportExistingEpoch", "POST", "/report", protocol::Scope::jobs_write,
                      "Report a trial after an epoch, and learn whether it goes on");
  report.body = records::shared_schema<ExistingResult>();
  report.outcomes = {{.status = 200, .meaning = "judged", .schema = records::shared_schema<ExistingVerdict>()},
                     refused_as(bad_request, "there is no such job or trial, or the report is impossible"),
                     refused_as(forbidden, "it is another user's trial"),
                     faulty()};
  report.work = report_epoch;
  report.job_of = job_in_body<ExistingResult>;

  Route end = base("endExistingTrial", "PATCH", "/trials", protocol::Scope::jobs_write,
                   "A trial has ended without a result; does nothing if it is over");
  end.body = records::shared_schema<ExistingTrial>();
  end.outcomes = {done(), refused_as(forbidden, "it is another user's trial"),
                  refused_as(not_found, "there is no such job or trial"), faulty()};
  end.work = end_trial;
  end.job_of = job_in_body<ExistingTrial>;

  Route forget = base("forgetExistingJob", "DELETE", "/jobs", protocol::Scope::jobs_admin, "Forget a job");
  forget.parameters = {job_in_query_parameter()};
  forget.outcomes = {done(), refused_as(not_found, "there is no such job"), faulty()};
  forget.work = forget_job;
  forget.job_of = job_in_query;
  return {std::move(registration), std::move(choice), std::move(report), std::move(end), std::move(forget)};
}

}  // namespace zeus::server
