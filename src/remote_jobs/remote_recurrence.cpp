#include "remote_jobs/remote_recurrence.hpp"

#include "jobs/job_state.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace zeus::remote_jobs {

namespace {

constexpr Seconds between_beats{10};
constexpr Seconds between_requests{0.5};
// For the last message.
constexpr Seconds last_patience{0.5};
// For one request: a server that hangs is asked again.
constexpr Seconds request_patience{10};

// The job on these devices, as policies see it.
optimize::JobSpec spec_on(const records::JobDevice& device, records::JobDefinition definition) {
  definition.device = device;
  return jobs::JobState{jobs::normalized(std::move(definition))}.job().spec();
}

// Later measurements replace earlier ones.
void merge(std::vector<records::LimitProfile>& known, const std::vector<records::LimitProfile>& measured) {
  for (const records::LimitProfile& one : measured) {
    const auto there = std::ranges::lower_bound(known, one.limit, {}, &records::LimitProfile::limit);
    if (there != known.end() && there->limit == one.limit) {
      *there = one;
    } else {
      known.insert(there, one);
    }
  }
}

}  // namespace

std::optional<records::JobDefinition> find_definition(ServiceClient& client, const std::string& job) {
  try {
    return client.get<records::JobView>(job_path(job, "?last=0")).definition;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) {
      throw;
    }
    return std::nullopt;
  }
}

void define(ServiceClient& client, const std::string& job, const records::JobDefinition& definition) {
  client.make({.method = "PUT", .path = job_path(job), .body = records::json_line(definition), .key = {}});
}

RemoteRecurrence::RemoteRecurrence(Clock& clock, RemotePlan plan, const std::string& job,
                                   const records::JobDevice& device, const records::JobOwner& owner)
    : clock_{clock},
      plan_{std::move(plan)},
      job_{job},
      client_{plan_.address, plan_.token, request_patience},
      begun_{client_.change<protocol::BegunRecurrence>(
          {.path = job_path(job, "/recurrences"),
           .body = records::json_line(protocol::BeginRecurrence{.device = device, .owner = owner, .lease = {}}),
           .key = plan_.draw_key()})},
      spec_{spec_on(begun_.device, begun_.definition)},
      last_beat_{clock.now()},
      telling_client_{plan_.address, plan_.token, request_patience},
      outbox_{clock, [this](const Change& what) { telling_client_.make(what); }} {
}

RemoteRecurrence::~RemoteRecurrence() {
  if (!over_) {
    let_go();
  }
}

std::string RemoteRecurrence::path(std::string_view operation) const {
  return job_path(job_, fmt::format("/recurrences/{}/{}", begun_.recurrence, operation));
}

Change RemoteRecurrence::change(std::string_view operation, std::string body) const {
  return {.path = path(operation), .body = std::move(body), .key = plan_.draw_key()};
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

std::string RemoteRecurrence::ask(const Change& change) {
  Patience left{clock_, plan_.patience, plan_.hurry, Seconds{}, [this] {
                  plan_.say(
                      fmt::format("waiting for the server {}, which is away and says what comes next: up to {:g} s; "
                                  "Ctrl-C ends that",
                                  plan_.address.shown, plan_.patience.value()));
                }};
  settle(left);
  while (true) {
    try {
      return client_.make(change);
    } catch (const Error& error) {
      if (!is_passing(error) || left.is_over()) {
        throw;
      }
    }
    clock_.sleep_until(clock_.now() + between_requests);
  }
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

jobs::RunStep RemoteRecurrence::step_of(const protocol::RunAnswer& answer) {
  know(answer.batch_size, answer.known);
  asked_.reset();
  try_number_ = answer.try_number;
  return {.number = answer.try_number - 1,
          .seed = answer.seed,
          .batch_size = answer.batch_size,
          .limit = answer.limit,
          .max_epochs = answer.max_epochs,
          .budget = answer.budget,
          .purpose = answer.purpose,
          .why = answer.why};
}

jobs::Step RemoteRecurrence::next() {
  const std::string body = records::json_line(protocol::AskNext{.unmeasured = asked_});
  const auto answer = protocol::read_service_answer<protocol::NextAnswer>(ask(change("next", body)));
  if (const auto* const profile = std::get_if<protocol::ProfileAnswer>(&answer)) {
    know(profile->batch_size, profile->known);
    asked_ = {.batch_size = profile->batch_size, .limits = profile->limits};
    next_seed_ = profile->seed;
    return jobs::ProfileStep{.batch_size = profile->batch_size, .limits = profile->limits, .why = profile->why};
  }
  if (const auto* const give_up = std::get_if<protocol::GiveUpAnswer>(&answer)) {
    over_ = true;
    return jobs::GiveUpStep{.tries = give_up->tries, .never_reached = give_up->never_reached};
  }
  return step_of(std::get<protocol::RunAnswer>(answer));
}

jobs::RunStep RemoteRecurrence::claim(int batch_size) {
  const std::string body = records::json_line(protocol::ClaimTry{.batch_size = batch_size});
  return step_of(
      std::get<protocol::RunAnswer>(protocol::read_service_answer<protocol::ClaimAnswer>(ask(change("claim", body)))));
}

void RemoteRecurrence::profiled(const jobs::Profiled& profiled) {
  tell(change("profiled", records::json_line(protocol::LimitsMeasured{.batch_size = profiled.batch_size,
                                                                      .limits = profiled.limits,
                                                                      .charged = profiled.charged,
                                                                      .time = profiled.time})));
  merge(known_[profiled.batch_size].limits, profiled.limits);
}

void RemoteRecurrence::epochs(const jobs::Progress& progress) {
  tell(change("epochs", records::json_line(protocol::EpochsTrained{.try_number = try_number_,
                                                                   .epochs = progress.epochs,
                                                                   .metric = progress.metric,
                                                                   .gpus = progress.gpus,
                                                                   .time = progress.time})),
       Outbox::Kind::replace);
}

void RemoteRecurrence::finished(const jobs::Finished& finished) {
  tell(change("finished", records::json_line(protocol::TryOver{.try_number = try_number_,
                                                               .outcome = finished.outcome,
                                                               .epochs = finished.epochs,
                                                               .gpus = finished.gpus,
                                                               .time = finished.time,
                                                               .limit = finished.limit,
                                                               .metric = finished.metric,
                                                               .exit_code = finished.exit_code,
                                                               .left_out = finished.left_out,
                                                               .whole_epochs = finished.whole_epochs})));
  over_ = reached(finished.outcome);
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
    throw Error{ErrorKind::unavailable,
                fmt::format("the server {} was away, and not all of this recurrence is on record", plan_.address.shown),
                "check whether it runs; what was not sent is lost, and the server gives the recurrence up"};
  }
}

void RemoteRecurrence::let_go() noexcept {
  over_ = true;
  try {
    outbox_.put(change("give_up", records::json_line(protocol::GiveUpRecurrence{.reason = "it was left unfinished"})));
    Patience left{clock_, last_patience, plan_.hurry};
    outbox_.wait_until_told(left);
  } catch (const std::exception&) {
    // The server notices the silence.
  }
}

}  // namespace zeus::remote_jobs
