// Operations on one job.

#include "jobs/job.hpp"
#include "jobs/redefinition.hpp"
#include "jobs/transfer.hpp"
#include "protocol/jobs_api.hpp"
#include "server/parameters.hpp"
#include "server/requests.hpp"
#include "server/route.hpp"
#include "server/service.hpp"
#include "transport/long_body.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace zeus::server {

using protocol::Scope;

namespace {

constexpr std::string_view lines_type = "application/x-ndjson";
constexpr std::size_t longest_import = std::size_t{256} << 20;
constexpr double most_of_an_overview = 64;
constexpr double most_numbers = 9007199254740992.0;
constexpr std::size_t usual_page_of_a_job = 50;

protocol::DefinedJob defined(jobs::Job& job) {
  const records::JobView now = job.overview(0);
  return {.name = now.name,
          .definition = now.definition,
          .device = now.device,
          .created = now.created,
          .entries = now.entries};
}

Made<protocol::DefinedJob> define(Service& service, const Call& call, const records::JobDefinition& definition) {
  const std::string& name = call.text("job");
  const bool is_new = !service.store.find(name);
  const store::JobOrigin origin{.user = call.visitor().user, .request = {}, .most_jobs = service.jobs_of_a_user};
  return service.jobs.with_defined(name, definition, origin, [&](jobs::Job& job) {
    return Made<protocol::DefinedJob>{defined(job), is_new};
  });
}

protocol::RedefinedJob redefine(Service& service, const Call& call, const records::JobDefinition& definition) {
  return service.jobs.with(call.text("job"), [&](jobs::Job& job) {
    return protocol::RedefinedJob{.name = job.name(),
                                  .changes = jobs::reported(job.redefine(definition, request_of(call, "redefine")))};
  });
}

protocol::LeftOutRecurrence leave_out(Service& service, const Call& call, const protocol::LeaveOutRecurrence& body) {
  return service.jobs.with(call.text("job"), [&](jobs::Job& job) {
    const std::uint64_t recurrence = call.number("recurrence");
    job.leave_out(recurrence - 1, body.reason, request_of(call, "leave_out"));
    return protocol::LeftOutRecurrence{.recurrence = recurrence};
  });
}

records::JobView show(Service& service, const Call& call) {
  return service.jobs.look_at(call.text("job"), [&](jobs::Job& job) {
    if (call.says("all")) {
      return job.view();
    }
    return job.overview(call.find_number("last").value_or(usual_page_of_a_job));
  });
}

jobs::Page page_of(const Call& call) {
  return {.before = call.find_number("before"), .at_most = call.find_number("limit").value_or(usual_page_of_a_job)};
}

// The next page, if there is one: those before the last one.
template <typename View>
std::optional<std::uint64_t> next_of(const std::vector<View>& views) {
  return views.empty() || views.back().number <= 1 ? std::nullopt : std::optional{views.back().number};
}

protocol::RecurrencePage recurrences(Service& service, const Call& call) {
  return service.jobs.look_at(call.text("job"), [&](jobs::Job& job) {
    protocol::RecurrencePage page{.recurrences = job.recurrences(page_of(call)), .next = {}};
    page.next = next_of(page.recurrences);
    return page;
  });
}

protocol::TryPage tries(Service& service, const Call& call) {
  return service.jobs.look_at(call.text("job"), [&](jobs::Job& job) {
    protocol::TryPage page{.tries = job.tries(page_of(call)), .next = {}};
    page.next = next_of(page.tries);
    return page;
  });
}

records::NextView next_of_job(Service& service, const Call& call) {
  return service.jobs.look_at(call.text("job"), [&](jobs::Job& job) { return job.overview(0).next; });
}

transport::Answer export_job(Service& service, const Call& call) {
  constexpr std::size_t most_in_memory = std::size_t{1} << 20;
  transport::Answer answer{.status = 200, .headers = {{"Content-Type", std::string{lines_type}}}, .body = {}};
  std::shared_ptr<transport::LongBody> all;
  jobs::JobExport text{service.store, call.text("job")};
  for (std::string piece = text.next(); !piece.empty(); piece = text.next()) {
    if (!all && answer.body.size() + piece.size() > most_in_memory) {
      all = std::make_shared<transport::LongBody>();
      all->append(std::exchange(answer.body, {}));
    }
    if (all) {
      all->append(piece);
    } else {
      answer.body += piece;
    }
  }
  answer.long_body = std::move(all);
  return answer;
}

// The body of a request, which may be in a file; it must outlive the result.
jobs::TextPieces pieces_of(const transport::Request& request) {
  struct Place {
    std::size_t read = 0;
    std::array<char, 64UL * 1024> room{};
  };
  const auto place = std::make_shared<Place>();
  return {.rewind = [place] { place->read = 0; },
          .next = [place, &request]() -> std::string_view {
            if (!request.long_body) {
              const std::string_view all = request.body;
              return all.substr(std::exchange(place->read, all.size()));
            }
            const std::span<const char> some = request.long_body->read(place->read, place->room);
            place->read += some.size();
            return {some.data(), some.size()};
          }};
}

transport::Answer import_job(Service& service, const Call& call) {
  try {
    const store::StoredJob job =
        jobs::import_job(service.store, service.site, call.text("job"), pieces_of(call.request()),
                         {.user = {}, .request = request_of(call, "import")});
    service.jobs.close(job.name);
    return json_answer(201, records::json_line(protocol::ImportedJob{.name = job.name, .entries = job.length}));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::corrupt_data) {
      throw Error{ErrorKind::invalid_argument, error.message(), error.advice()};
    }
    throw;
  }
}

Nothing forget(Service& service, const Call& call) {
  const bool was_there = service.store.forget(call.text("job"), request_of(call, "forget"));
  service.jobs.close(call.text("job"));
  if (!was_there) {
    throw Error{ErrorKind::not_found, fmt::format("there is no job '{}'", call.text("job")),
                "it may have been forgotten already"};
  }
  return {};
}

Parameter limit_parameter() {
  return whole_parameter("limit", 1, most_of_a_page, "How many at most; 50 by default");
}

Parameter before_parameter() {
  return whole_parameter("before", 1, most_numbers, "Only those with lower numbers: a page's `next`");
}

Route export_route() {
  return {.id = "exportJob",
          .method = "GET",
          .path = "/api/v1/jobs/{job}/export",
          .needs = Scope::jobs_read,
          .summary = "The job and its history, a line of JSON for each entry",
          .parameters = {job_parameter()},
          .outcomes = {{.status = 200, .meaning = "done", .type = lines_type}},
          .work = export_job};
}

Route import_route() {
  return {.id = "importJob",
          .method = "POST",
          .path = "/api/v1/jobs/{job}/import",
          .needs = Scope::jobs_admin,
          .summary = "Import what export has written, under an unused name",
          .parameters = {job_parameter(), key_parameter()},
          .body = std::make_shared<const records::JsonSchema>(),
          .body_type = lines_type,
          .outcomes = {{.status = 201, .meaning = "made", .schema = records::shared_schema<protocol::ImportedJob>()}},
          .work = import_job,
          .longest_body = longest_import};
}

}  // namespace

std::vector<Route> job_routes() {
  return {
      route({"defineJob",
             "PUT",
             "/api/v1/jobs/{job}",
             Scope::jobs_write,
             "Define a job, or check that it has this definition",
             {job_parameter()}},
            define),
      route({"showJob",
             "GET",
             "/api/v1/jobs/{job}",
             Scope::jobs_read,
             "A job with its last recurrences and tries",
             {job_parameter(),
              whole_parameter("last", 0, most_of_an_overview, "How many recurrences and tries; 50 by default"),
              word_parameter("all", {"true", "false"}, "Every recurrence and try, which takes longer")}},
            show),
      route({"listRecurrences",
             "GET",
             "/api/v1/jobs/{job}/recurrences",
             Scope::jobs_read,
             "Recurrences, the newest first",
             {job_parameter(), before_parameter(), limit_parameter()}},
            recurrences),
      route({"listTries",
             "GET",
             "/api/v1/jobs/{job}/tries",
             Scope::jobs_read,
             "Tries, the newest first",
             {job_parameter(), before_parameter(), limit_parameter()}},
            tries),
      route({"previewNext",
             "GET",
             "/api/v1/jobs/{job}/next",
             Scope::jobs_read,
             "What a recurrence that began now would do, and why",
             {job_parameter()}},
            next_of_job),
      route({"redefineJob",
             "POST",
             "/api/v1/jobs/{job}/redefine",
             Scope::jobs_write,
             "Give the job this definition from the next recurrence on",
             {job_parameter(), key_parameter()}},
            redefine),
      route({"leaveOutRecurrence",
             "POST",
             "/api/v1/jobs/{job}/recurrences/{recurrence}/leave_out",
             Scope::jobs_admin,
             "Leave a recurrence with wrong figures out for good: it stays on record and counts for nothing",
             {job_parameter(), recurrence_parameter(), key_parameter()}},
            leave_out),
      export_route(),
      import_route(),
      route({"forgetJob",
             "DELETE",
             "/api/v1/jobs/{job}",
             Scope::jobs_admin,
             "Forget the job and everything learned from its runs",
             {job_parameter(), key_parameter()}},
            forget),
  };
}

}  // namespace zeus::server
