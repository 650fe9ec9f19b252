#include "remote_jobs/remote_recurrence.hpp"

#include "base/random_id.hpp"
#include "jobs/job_state.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace zeus::remote_jobs {

namespace {

constexpr Seconds between_beats{10};
// What an answer takes that does not hold up a training.
constexpr Seconds a_moment{0.5};
// For the last message.
constexpr Seconds last_patience{0.5};
// For one request: a server that hangs is asked again.
constexpr Seconds request_patience{10};

// The job on these devices, as policies see it.
optimize::JobSpec spec_on(const records::JobDevice& device, records::JobDefinition definition) {
  definition.device = device;
  return jobs::JobState{jobs::normalized(std::move(definition))}.job().spec();
}

}  // namespace

RemoteRecurrence::RemoteRecurrence(Clock& clock, RemotePlan plan, const std::string& job,
                                   const records::JobDevice& device, const records::JobOwner& owner)
    : clock_{clock},
      plan_{std::move(plan)},
      job_{job},
      client_{std::make_shared<ServiceClient>(plan_.address, plan_.token, request_patience)},
      begun_{patiently(
          clock_, plan_.hurry,
          [&, key = random_id()] {
            return client_->change<protocol::BegunRecurrence>(
                {.path = job_path(job, "/recurrences"),
                 .body = records::json_line(protocol::BeginRecurrence{.device = device, .owner = owner, .lease = {}}),
                 .key = key});
          })},
      spec_{spec_on(begun_.device, begun_.definition)},
      last_beat_{clock.now()},
      outbox_{clock, [client = client_](const Change& what) { return client->make(what); }} {
}

RemoteRecurrence::~RemoteRecurrence() {
  if (!over_) {
    let_go();
  } else {
    wait_a_last_time();
  }
}

void RemoteRecurrence::wait_a_last_time() {
  if (!std::exchange(waited_in_vain_, true)) {
    Patience left{clock_, last_patience, plan_.hurry};
    outbox_.wait_until_told(left);
  }
}

std::string RemoteRecurrence::path(std::string_view operation) const {
  return job_path(job_, fmt::format("/recurrences/{}/{}", begun_.recurrence, operation));
}

Change RemoteRecurrence::change(std::string_view operation, std::string body) const {
  return {.path = path(operation), .body = std::move(body), .key = random_id()};
}

void RemoteRecurrence::throw_refusal() const {
  if (const std::optional<Error> refusal = outbox_.refusal()) {
    throw Error{*refusal};
  }
}

void RemoteRecurrence::tell(Change change, Outbox::Kind kind) {
  throw_refusal();
  outbox_.put(std::move(change), kind);
}

std::optional<std::string> RemoteRecurrence::ask(std::string_view operation, const std::string& body, jobs::Wait wait) {
  throw_refusal();
  const bool first = !std::exchange(asking_, true);
  if (first) {
    outbox_.ask(change(operation, body));
  }
  if (wait == jobs::Wait::yes) {
    Patience left{clock_, plan_.patience, plan_.hurry, Seconds{}, [this] {
                    plan_.say(
                        fmt::format("waiting for the server {}, which is away and says what comes next: up to {:g} s; "
                                    "Ctrl-C ends that",
                                    plan_.address.shown, plan_.patience.value()));
                  }};
    settle(left);
  } else {
    Patience left{clock_, first ? a_moment : Seconds{}, plan_.hurry};
    outbox_.wait_until_told(left);
    throw_refusal();
  }
  std::optional<std::string> answer = outbox_.take_answer();
  asking_ = !answer;
  return answer;
}

std::vector<records::LimitProfile> RemoteRecurrence::limits(int batch_size) const {
  const auto known = known_.find(batch_size);
  return known == known_.end() ? std::vector<records::LimitProfile>{} : known->second.limits;
}

std::optional<Seconds> RemoteRecurrence::run_time(int batch_size) const {
  const auto known = known_.find(batch_size);
  return known == known_.end() ? std::nullopt : known->second.run_time;
}

jobs::RecurrenceLink::Worked RemoteRecurrence::worked(int batch_size) {
  const auto known = known_.find(batch_size);
  return known == known_.end()
             ? Worked{}
             : Worked{.here = known->second.has_worked, .elsewhere = known->second.others_have_worked};
}

void RemoteRecurrence::know(int batch_size, const protocol::KnownOfBatchSize& known) {
  known_[batch_size] = known;
}

records::TryStarted RemoteRecurrence::step_of(const protocol::RunAnswer& answer) {
  know(answer.plan.batch_size, answer.known);
  asked_.reset();
  try_number_ = answer.try_number;
  return {.event = {.try_number = answer.try_number - 1, .recurrence = begun_.recurrence - 1, .plan = answer.plan},
          .seed = answer.seed,
          .why = answer.why};
}

std::optional<jobs::Step> RemoteRecurrence::next(jobs::Wait wait) {
  const std::optional<std::string> text =
      ask("next", records::json_line(protocol::AskNext{.unmeasured = asked_}), wait);
  if (!text) {
    return std::nullopt;
  }
  const auto answer = protocol::read_service_answer<protocol::NextAnswer>(*text);
  if (const auto* const profile = std::get_if<protocol::ProfileAnswer>(&answer)) {
    know(profile->asked.batch_size, profile->known);
    asked_ = profile->asked;
    next_seed_ = profile->seed;
    return profile->asked;
  }
  if (const auto* const give_up = std::get_if<protocol::GiveUpAnswer>(&answer)) {
    over_ = true;
    return give_up->failed;
  }
  return step_of(std::get<protocol::RunAnswer>(answer));
}

std::optional<records::TryStarted> RemoteRecurrence::claim(int batch_size, jobs::Wait wait) {
  const std::optional<std::string> text =
      ask("claim", records::json_line(protocol::ClaimTry{.batch_size = batch_size}), wait);
  if (!text) {
    return std::nullopt;
  }
  return step_of(std::get<protocol::RunAnswer>(protocol::read_service_answer<protocol::ClaimAnswer>(*text)));
}

void RemoteRecurrence::profiled(const records::LimitsMeasured& measured) {
  tell(change("profiled", records::json_line(measured)));
  records::merge(known_[measured.batch_size].limits, measured.limits);
}

void RemoteRecurrence::epochs(const records::TryProgress& progress) {
  tell(change("epochs", records::json_line(records::EpochsTrained{.try_number = try_number_, .progress = progress})),
       Outbox::Kind::replace);
}

void RemoteRecurrence::finished(const records::TryResult& result) {
  tell(change("finished", records::json_line(records::TryOver{.try_number = try_number_, .result = result})));
  over_ = reached(result.outcome);
  asked_.reset();
}

void RemoteRecurrence::give_up(const std::string& reason) {
  tell(change("give_up", records::json_line(protocol::GiveUpRecurrence{.reason = reason})));
  over_ = true;
}

void RemoteRecurrence::beat() {
  const Instant now = clock_.now();
  if (now - last_beat_.load() < between_beats) {
    return;
  }
  last_beat_ = now;
  outbox_.put_if_idle(change("beat", records::json_line(protocol::Beat{.gpus = plan_.readings()})));
}

void RemoteRecurrence::settle() {
  Patience left{clock_, plan_.patience, plan_.hurry, Patience::a_little, [this] {
                  plan_.say(
                      fmt::format("waiting for the server {}, which is away, to report this recurrence: up to {:g} "
                                  "s; Ctrl-C ends that",
                                  plan_.address.shown, plan_.patience.value()));
                }};
  settle(left);
}

void RemoteRecurrence::settle(Patience& left) {
  const bool told = outbox_.wait_until_told(left);
  throw_refusal();
  if (!told) {
    waited_in_vain_ = true;
    throw Error{ErrorKind::unavailable,
                fmt::format("the server {} was away, and not all of this recurrence is on record", plan_.address.shown),
                "check whether it runs; what was not sent is lost, and the server gives the recurrence up"};
  }
}

void RemoteRecurrence::let_go() noexcept {
  over_ = true;
  try {
    outbox_.put(change("give_up", records::json_line(protocol::GiveUpRecurrence{.reason = "it was left unfinished"})));
    wait_a_last_time();
  } catch (const std::exception&) {
    // The server notices the silence.
  }
}

}  // namespace zeus::remote_jobs
