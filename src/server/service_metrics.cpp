#include "server/service_metrics.hpp"

#include <array>

namespace zeus::server {

namespace {

using protocol::Metric;
using protocol::MetricType;

constexpr std::array by_answer{std::string_view{"operation"}, std::string_view{"status"}};
constexpr std::array by_operation{std::string_view{"operation"}};
constexpr std::array by_job{std::string_view{"job"}};
constexpr std::array duration_bounds{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0};

constexpr Metric requests{.name = "zeus_server_requests_total",
                          .help = "Requests answered",
                          .type = MetricType::counter,
                          .labels = by_answer};
constexpr Metric seconds{.name = "zeus_server_request_duration_seconds",
                         .help = "From the end of a request to its answer",
                         .type = MetricType::histogram,
                         .unit = "seconds",
                         .labels = by_operation,
                         .buckets = duration_bounds};
constexpr Metric waiting{.name = "zeus_server_waiting_requests", .help = "Requests waiting for a worker"};
constexpr Metric busy{.name = "zeus_server_busy_workers", .help = "Workers running a request"};
constexpr Metric connections{.name = "zeus_server_connections", .help = "Open connections"};
constexpr Metric event_readers{.name = "zeus_server_event_readers", .help = "Open streams of events"};
constexpr Metric writes{
    .name = "zeus_server_store_writes_total", .help = "Writes to the store", .type = MetricType::counter};
constexpr Metric flushes{.name = "zeus_server_store_flushes_total",
                         .help = "Flushes of the store: writes at the same time share one",
                         .type = MetricType::counter};
constexpr Metric open_jobs{.name = "zeus_server_open_jobs", .help = "Jobs kept in memory"};

constexpr Metric energy{.name = "zeus_job_energy_joules_total",
                        .help = "What a job's tries have taken, as far as known",
                        .type = MetricType::counter,
                        .unit = "joules",
                        .labels = by_job};
constexpr Metric time{.name = "zeus_job_time_seconds_total",
                      .help = "How long a job's tries have run",
                      .type = MetricType::counter,
                      .unit = "seconds",
                      .labels = by_job};
constexpr Metric tries_started{
    .name = "zeus_job_tries_total", .help = "Tries started", .type = MetricType::counter, .labels = by_job};
constexpr Metric recurrences_begun{
    .name = "zeus_job_recurrences_total", .help = "Recurrences begun", .type = MetricType::counter, .labels = by_job};
constexpr Metric saved_energy{.name = "zeus_job_saved_energy_joules",
                              .help = "Saved compared with running the default every time; negative if lost",
                              .unit = "joules",
                              .labels = by_job};
constexpr Metric unreadable{.name = "zeus_job_unreadable",
                            .help = "1 for a job that cannot be read, which has no other metrics",
                            .labels = by_job};

}  // namespace

ServiceMetrics::ServiceMetrics()
    : process_{{&requests, &seconds, &waiting, &busy, &connections, &event_readers, &open_jobs, &writes, &flushes}} {
}

void ServiceMetrics::count_request(std::string_view operation, int status, Seconds took) {
  const std::lock_guard guard{mutex_};
  process_.add(requests, {std::string{operation}, std::to_string(status)});
  process_.observe(seconds, {std::string{operation}}, took.value());
}

std::string ServiceMetrics::text(const ServerNow& now, const store::SummaryPage& jobs) {
  protocol::Metrics of_jobs{{&energy, &time, &tries_started, &recurrences_begun, &saved_energy, &unreadable}};
  for (const records::JobSummary& job : jobs.summaries) {
    of_jobs.set(energy, {job.name}, job.took.energy.value());
    of_jobs.set(time, {job.name}, job.took.time.value());
    of_jobs.set(tries_started, {job.name}, static_cast<double>(job.tries));
    of_jobs.set(recurrences_begun, {job.name}, static_cast<double>(job.recurrences));
    if (job.savings) {
      of_jobs.set(saved_energy, {job.name}, job.savings->energy.value());
    }
  }
  for (const records::UnreadableJob& job : jobs.unreadable) {
    of_jobs.set(unreadable, {job.name}, 1.0);
  }
  const std::lock_guard guard{mutex_};
  process_.set(waiting, {}, static_cast<double>(now.waiting));
  process_.set(busy, {}, static_cast<double>(now.busy));
  process_.set(connections, {}, static_cast<double>(now.connections));
  process_.set(event_readers, {}, static_cast<double>(now.readers));
  process_.set(open_jobs, {}, static_cast<double>(now.open_jobs));
  process_.set(writes, {}, static_cast<double>(now.written.writes));
  process_.set(flushes, {}, static_cast<double>(now.written.flushes));
  return process_.text() + of_jobs.text();
}

}  // namespace zeus::server
