// Operations over all jobs.

#include "base/log.hpp"
#include "jobs/job.hpp"
#include "protocol/jobs_api.hpp"
#include "server/event_hub.hpp"
#include "server/parameters.hpp"
#include "server/route.hpp"
#include "server/service.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <ranges>
#include <utility>

namespace zeus::server {

using protocol::Scope;

namespace {

constexpr std::size_t usual_page_of_jobs = 100;
constexpr std::size_t longest_cursor = 1000;
constexpr double most_entries = 9007199254740992.0;

void fold_up(Service& service, const std::string& name) {
  try {
    service.jobs.with(name, [](jobs::Job& job) { job.keep_summary(); });
  } catch (const jobs::UnreadableJob& error) {
    log::warning(error.what());
    jobs::keep_unreadable(service.store, name, error);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) {  // it was forgotten meanwhile
      throw;
    }
  }
}

// Stores missing summaries, of histories written by an import or an older program.
void fold_up_what_lacks(Service& service) {
  for (const std::string& name : service.store.without_summary()) {
    fold_up(service, name);
  }
}

// A page of summaries; damaged ones are made again.
store::SummaryPage summaries(Service& service, const store::SummaryQuery& query) {
  store::SummaryPage page = service.store.summaries(query);
  const auto is_damaged = [](const records::UnreadableJob& one) { return one.why.empty(); };
  if (std::ranges::none_of(page.unreadable, is_damaged)) {
    return page;
  }
  for (const records::UnreadableJob& one : page.unreadable | std::views::filter(is_damaged)) {
    fold_up(service, one.name);
  }
  page = service.store.summaries(query);
  for (records::UnreadableJob& one : page.unreadable | std::views::filter(is_damaged)) {
    one.why = "its stored summary is damaged, and the store cannot be written";
  }
  return page;
}

protocol::JobPage list_jobs(Service& service, const Call& call) {
  fold_up_what_lacks(service);
  store::SummaryQuery query{.after = call.find("cursor").value_or(""),
                            .at_most = call.find_number("limit").value_or(usual_page_of_jobs)};
  const std::string order = call.find("order").value_or("name");
  query.order = order == "changed"   ? store::SummaryOrder::changed
                : order == "savings" ? store::SummaryOrder::savings
                                     : store::SummaryOrder::name;
  const std::string state = call.find("state").value_or("any");
  query.state = state == "running" ? store::SummaryState::running
                : state == "idle"  ? store::SummaryState::idle
                                   : store::SummaryState::any;
  store::SummaryPage page = summaries(service, query);
  protocol::JobPage answer{.jobs = std::move(page.summaries), .unreadable = std::move(page.unreadable), .next = {}};
  if (!page.next.empty()) {
    answer.next = std::move(page.next);
  }
  return answer;
}

// Days since 1970 of a date like "2026-11-21".
std::int64_t day_of(std::string_view name, const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto read = [&](std::size_t from, std::size_t length, auto& number) {
    const char* const end = text.data() + from + length;
    return std::from_chars(text.data() + from, end, number).ptr == end;
  };
  if (text.size() == 10 && text[4] == '-' && text[7] == '-' && read(0, 4, year) && read(5, 2, month) &&
      read(8, 2, day)) {
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
    if (date.ok()) {
      return std::chrono::sys_days{date}.time_since_epoch().count();
    }
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("the parameter '{}' is not a day", name),
              "write it as 2026-11-21"};
}

std::string text_of(std::int64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

protocol::SavingsAnswer savings(Service& service, const Call& call) {
  fold_up_what_lacks(service);
  constexpr std::int64_t last_day = 2'932'896;  // of the year 9999
  const std::optional<std::string> from = call.find("from");
  const std::optional<std::string> to = call.find("to");
  const store::SavingsByDay saved =
      service.store.savings(from ? day_of("from", *from) : 0, to ? day_of("to", *to) : last_day);
  protocol::SavingsAnswer answer{.days = {}, .in_all = saved.all};
  for (const store::SavingsByDay::Day& day : saved.days) {
    answer.days.push_back({.day = text_of(day.day), .savings = day.savings});
  }
  return answer;
}

// The last readings of each running recurrence's GPUs, by job and number (from 0).
using Readings = std::map<std::pair<store::JobId, std::uint64_t>, protocol::Beat>;

Readings readings_of(store::JobStore& store) {
  Readings all;
  for (const store::KeptBeat& beat : store.readings()) {
    try {
      all[{beat.job, beat.recurrence}] =
          records::record_from_json<protocol::Beat>(beat.readings, {.refusal = "these are no readings", .newer = true});
    } catch (const Error&) {  // another program may have stored them in a form unknown here
    }
  }
  return all;
}

protocol::Nodes nodes(Service& service, const Call& /*call*/) {
  fold_up_what_lacks(service);
  const Readings readings = readings_of(service.store);
  std::map<std::string, store::JobId> ids;
  for (const store::JobLength& job : service.store.lengths()) {
    ids.emplace(job.name, job.id);
  }
  std::map<std::string, protocol::Node> by_host;
  store::SummaryQuery query{.state = store::SummaryState::running, .at_most = 1000};
  do {
    store::SummaryPage page = summaries(service, query);
    for (const records::JobSummary& job : page.summaries) {
      for (const records::RunningSummary& running : job.running) {
        protocol::Node& node = by_host[running.host];
        node.host = running.host;
        const auto seen = readings.find({ids[job.name], running.recurrence - 1});
        node.recurrences.push_back(
            {.job = job.name,
             .recurrence = running.recurrence,
             .user = running.user,
             .pid = running.pid,
             .command = running.command,
             .gpus = seen == readings.end() ? std::vector<protocol::GpuNow>{} : seen->second.gpus});
      }
    }
    query.after = std::move(page.next);
  } while (!query.after.empty());
  protocol::Nodes answer;
  for (auto& [host, node] : by_host) {
    answer.nodes.push_back(std::move(node));
  }
  return answer;
}

void follow_job(Service& service, const SharedCall& call) {
  std::optional<std::uint64_t> after = call->find_number("Last-Event-ID");
  if (!after) {
    after = call->find_number("after");
  }
  service.events.follow_job(call->text("job"), after, call);
}

void follow_summaries(Service& service, const SharedCall& call) {
  service.events.follow_summaries(call);
}

Route stream_route(std::string_view id, std::string_view path, std::string_view summary,
                   std::vector<Parameter> parameters, Route::Stream stream) {
  Route route;
  route.id = id;
  route.method = "GET";
  route.path = path;
  route.needs = Scope::jobs_read;
  route.summary = summary;
  route.parameters = std::move(parameters);
  route.outcomes = {{.status = 200, .meaning = "events, for as long as they are read", .type = "text/event-stream"}};
  route.stream = stream;
  return route;
}

}  // namespace

std::vector<Route> overview_routes() {
  Parameter last_event = whole_parameter("Last-Event-ID", 0, most_entries, "The last event that was seen before");
  last_event.place = Parameter::Place::header;
  return {
      route({"listJobs",
             "GET",
             "/api/v1/jobs",
             Scope::jobs_read,
             "Summaries of jobs, page by page",
             {word_parameter("order", {"name", "changed", "savings"}, "The order; by name by default"),
              word_parameter("state", {"any", "running", "idle"}, "Only jobs in this state; any by default"),
              text_parameter("cursor", longest_cursor, "A page's `next`: what follows it"),
              whole_parameter("limit", 1, most_of_a_page, "How many at most; 100 by default")}},
            list_jobs),
      route({"showSavings",
             "GET",
             "/api/v1/savings",
             Scope::jobs_read,
             "What all jobs saved, by the UTC day on which recurrences reached their target",
             {text_parameter("from", 10, "The first day: 2026-11-21"), text_parameter("to", 10, "The last day")}},
            savings),
      route({"listNodes", "GET", "/api/v1/nodes", Scope::nodes_read,
             "Machines that run recurrences, with the last readings of their GPUs"},
            nodes),
      stream_route("followSummaries", "/api/v1/events", "Each summary of a job that changes from now on", {},
                   follow_summaries),
      stream_route("followJob", "/api/v1/jobs/{job}/events",
                   "Each entry of a job's history, by its sequence number, from now on or after one",
                   {job_parameter(), last_event,
                    whole_parameter("after", 0, most_entries, "The same, for clients that cannot send that header")},
                   follow_job),
  };
}

}  // namespace zeus::server
