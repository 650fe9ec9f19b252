#include "server/server.hpp"

#include "server/openapi.hpp"

#include <algorithm>
#include <utility>

namespace zeus::server {

namespace {

// Most of them wait for the store, whose writes share a flush.
constexpr std::size_t worker_threads = 16;
constexpr std::size_t most_waiting_requests = 2048;
constexpr std::size_t most_connections = 4096;
constexpr std::size_t most_from_one_address = 2048;
constexpr Seconds between_looks_for_the_end{0.01};
constexpr Seconds between_looks_at_pipelines{1};

transport::ServerLimits limits_of(const ServerPlan& plan, const Api& api) {
  transport::ServerLimits limits;
  limits.connections = most_connections;
  limits.from_one_peer = plan.takes_from_one_address ? most_from_one_address : most_connections;
  limits.body_of = [&api](std::string_view method, std::string_view target) {
    return api.longest_body(method, target);
  };
  return limits;
}

store::SummaryPage all_summaries(store::JobStore& store) {
  store::SummaryPage all;
  store::SummaryQuery query{.at_most = 1000};
  do {
    store::SummaryPage page = store.summaries(query);
    std::ranges::move(page.summaries, std::back_inserter(all.summaries));
    std::ranges::move(page.unreadable, std::back_inserter(all.unreadable));
    query.after = std::move(page.next);
  } while (!query.after.empty());
  return all;
}

}  // namespace

Server::Server(transport::EventLoop& loop, Clock& clock, store::JobStore& store, const jobs::Site& site,
               ServerPlan plan)
    : loop_{loop},
      clock_{clock},
      jobs_{store, site, plan.cache_bytes},
      events_{std::make_shared<EventHub>(loop, clock, store, jobs_)},
      service_{.store = store,
               .site = site,
               .jobs = jobs_,
               .events = *events_,
               .version = plan.version,
               .instance = plan.instance,
               .tokens = plan.access.credentials.keys.has_value(),
               .jobs_of_a_user = plan.jobs_of_a_user},
      workers_{std::make_unique<transport::Workers>(worker_threads, most_waiting_requests)},
      api_{loop,
           service_,
           *workers_,
           clock,
           plan.log,
           [this](std::string_view route, int status, Seconds took) { metrics_.count_request(route, status, took); }},
      http_{std::make_unique<transport::HttpServer>(
          loop, clock, limits_of(plan, api_),
          [this](std::shared_ptr<transport::Exchange> exchange) { api_.handle(std::move(exchange)); },
          refused_request)} {
  events_->work_with(workers_.get());
  service_.openapi = openapi_document(api_.operations(), plan.version);
  service_.metrics = [this, per_job = plan.metrics_per_job] {
    return metrics_.text({.waiting = workers_->waiting(),
                          .busy = workers_->busy(),
                          .connections = http_->connections(),
                          .readers = events_->readers(),
                          .open_jobs = jobs_.size(),
                          .written = service_.store.written()},
                         per_job ? all_summaries(service_.store) : store::SummaryPage{});
  };
  api_.set_access(std::move(plan.access));
  if (plan.pipeline_plan) {
    service_.pipelines = &pipelines_.emplace(std::move(*plan.pipeline_plan));
    look_at_pipelines();
  }
}

// Workers may still answer.
Server::~Server() {
  workers_.reset();
}

void Server::accept_on(FileDescriptor listener) {
  http_->accept_on(std::move(listener));
}

void Server::set_access(service::Access access) {
  api_.set_access(std::move(access));
  events_->check_rights();
}

void Server::stop(Seconds patience, std::function<void()> done) {
  give_up_at_ = clock_.now() + patience;
  stopped_ = std::move(done);
  if (pipelines_) {
    pipelines_->end();
  }
  http_->drain();
  events_->end();
  look_whether_over();
}

bool Server::is_working() const {
  // In this order: what no longer waits is busy.
  return workers_->waiting() > 0 || workers_->busy() > 0;
}

void Server::look_whether_over() {
  if ((http_->connections() == 0 && !is_working()) || clock_.now() >= give_up_at_) {
    std::exchange(stopped_, nullptr)();
    return;
  }
  watch_ = loop_.after(between_looks_for_the_end, [this] { look_whether_over(); });
}

void Server::look_at_pipelines() {
  pipelines_->look(clock_.now());
  pipelines_watch_ = loop_.after(between_looks_at_pipelines, [this] { look_at_pipelines(); });
}

}  // namespace zeus::server
