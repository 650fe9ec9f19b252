#include "daemon/daemon_metrics.hpp"

#include "daemon/node.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace zeus::daemon {

using protocol::Metric;
using protocol::MetricType;

namespace {

constexpr std::array<std::string_view, 2> of_gpu{"gpu", "uuid"};
constexpr std::array<std::string_view, 3> of_gpu_kind{"gpu", "uuid", "kind"};
constexpr std::array<std::string_view, 3> of_gpu_cause{"gpu", "uuid", "cause"};
constexpr std::array<std::string_view, 3> of_gpu_work{"gpu", "uuid", "work"};
constexpr std::array<std::string_view, 4> of_gpu_holder{"gpu", "uuid", "holder", "lease"};
constexpr std::array<std::string_view, 2> of_cpu{"package", "domain"};
constexpr std::array<std::string_view, 2> of_request{"route", "status"};
constexpr std::array<std::string_view, 1> of_route{"route"};
constexpr std::array<std::string_view, 2> of_build{"version", "instance"};
constexpr std::array<double, 10> request_seconds{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0};

constexpr Metric gpu_energy{.name = "zeusd_gpu_energy_joules_total",
                            .help = "What the GPU's own counter of energy shows",
                            .type = MetricType::counter,
                            .unit = "joules",
                            .labels = of_gpu};
constexpr Metric gpu_power{.name = "zeusd_gpu_power_watts",
                           .help = "Power of the GPU",
                           .type = MetricType::gauge,
                           .unit = "watts",
                           .labels = of_gpu};
constexpr Metric gpu_limit{.name = "zeusd_gpu_power_limit_watts",
                           .help = "Power limit: last asked for, enforced, and before the lease",
                           .type = MetricType::gauge,
                           .unit = "watts",
                           .labels = of_gpu_kind};
constexpr Metric gpu_throttled{.name = "zeusd_gpu_throttled_seconds_total",
                               .help = "For how long the GPU's clocks were held back, by cause",
                               .type = MetricType::counter,
                               .unit = "seconds",
                               .labels = of_gpu_cause};
constexpr Metric gpu_holder{.name = "zeusd_gpu_lease",
                            .help = "1 for each lease of the GPU that is held, with for whom",
                            .type = MetricType::gauge,
                            .labels = of_gpu_holder};
constexpr Metric gpu_stuck{.name = "zeusd_gpu_stuck",
                           .help = "1 while a call to the GPU's driver hangs",
                           .type = MetricType::gauge,
                           .labels = of_gpu_work};
constexpr Metric gpu_queue{.name = "zeusd_gpu_waiting_requests",
                           .help = "Requests that wait for the GPU",
                           .type = MetricType::gauge,
                           .labels = of_gpu_work};
constexpr Metric gpu_calls{.name = "zeusd_gpu_setter_calls_total",
                           .help = "How often the driver was told to set something",
                           .type = MetricType::counter,
                           .labels = of_gpu};
constexpr Metric cpu_energy{.name = "zeusd_cpu_energy_joules_total",
                            .help = "Energy of the CPU package, or of the memory behind it",
                            .type = MetricType::counter,
                            .unit = "joules",
                            .labels = of_cpu};
constexpr Metric requests{.name = "zeusd_requests_total",
                          .help = "Requests that were answered",
                          .type = MetricType::counter,
                          .labels = of_request};
constexpr Metric request_times{.name = "zeusd_request_duration_seconds",
                               .help = "From the whole request to its answer",
                               .type = MetricType::histogram,
                               .unit = "seconds",
                               .labels = of_route,
                               .buckets = request_seconds};
constexpr Metric waiting{
    .name = "zeusd_leases_waited_for", .help = "Clients that wait for a lease", .type = MetricType::gauge};
constexpr Metric build{.name = "zeusd_build_info",
                       .help = "Always 1; the labels give the version, and the ID of this start of the daemon",
                       .type = MetricType::gauge,
                       .labels = of_build};

void set_known(protocol::Metrics& metrics, const Metric& metric, const protocol::Metrics::Labels& labels,
               const std::optional<double>& value) {
  if (value) {
    metrics.set(metric, labels, *value);
  } else {
    metrics.forget(metric, labels);
  }
}

template <typename Quantity>
std::optional<double> number_of(const protocol::ReportedReading<Quantity>& reading) {
  return reading.value ? std::optional{reading.value->value()} : std::nullopt;
}

}  // namespace

DaemonMetrics::DaemonMetrics()
    : metrics_{{&gpu_energy, &gpu_power, &gpu_limit, &gpu_throttled, &gpu_holder, &gpu_stuck, &gpu_queue, &gpu_calls,
                &cpu_energy, &requests, &request_times, &waiting, &build}} {
}

void DaemonMetrics::count_request(std::string_view route, int status, Seconds time) {
  metrics_.add(requests, {std::string{route}, std::to_string(status)});
  metrics_.observe(request_times, {std::string{route}}, time.value());
}

void DaemonMetrics::note_gpu(const ServedGpu& gpu, const protocol::GpuReadings& readings) {
  const std::string number = std::to_string(gpu.seat->name().number);
  const std::string& uuid = gpu.identity.uuid;
  set_known(metrics_, gpu_energy, {number, uuid}, number_of(readings.energy));
  set_known(metrics_, gpu_power, {number, uuid},
            readings.power.empty() ? std::nullopt : number_of(readings.power.front().power));
  set_known(metrics_, gpu_limit, {number, uuid, "asked"}, number_of(readings.limits.current));
  set_known(metrics_, gpu_limit, {number, uuid, "enforced"}, number_of(readings.limits.enforced));
  const protocol::ReportedThrottleTimes& times = readings.throttle_times;
  set_known(metrics_, gpu_throttled, {number, uuid, "power_cap"}, number_of(times.power_cap));
  set_known(metrics_, gpu_throttled, {number, uuid, "sync_boost"}, number_of(times.sync_boost));
  set_known(metrics_, gpu_throttled, {number, uuid, "software_thermal"}, number_of(times.software_thermal));
  set_known(metrics_, gpu_throttled, {number, uuid, "hardware_thermal"}, number_of(times.hardware_thermal));
  set_known(metrics_, gpu_throttled, {number, uuid, "power_brake"}, number_of(times.power_brake));
}

void DaemonMetrics::note_cpu(const ServedCpu& cpu, const protocol::CpuReadings& readings) {
  const std::string& name = cpu.reader->identity().name;
  set_known(metrics_, cpu_energy, {name, "package"}, number_of(readings.package.energy));
  set_known(metrics_, cpu_energy, {name, "dram"}, number_of(readings.dram.energy));
}

std::string DaemonMetrics::text(const Node& node) {
  metrics_.set(build, {node.identity.version, node.identity.instance}, 1);
  metrics_.set(waiting, {}, static_cast<double>(node.desk->waiting()));
  metrics_.forget_all(gpu_holder);
  for (const ServedGpu& gpu : node.gpus) {
    const std::string number = std::to_string(gpu.seat->name().number);
    const std::string& uuid = gpu.identity.uuid;
    set_known(metrics_, gpu_limit, {number, uuid, "found"}, std::nullopt);
    metrics_.set(gpu_stuck, {number, uuid, "set"}, gpu.seat->thread().stuck_since() ? 1 : 0);
    metrics_.set(gpu_stuck, {number, uuid, "read"}, gpu.reader->thread().stuck_since() ? 1 : 0);
    metrics_.set(gpu_queue, {number, uuid, "set"}, static_cast<double>(gpu.seat->thread().waiting()));
    metrics_.set(gpu_queue, {number, uuid, "read"}, static_cast<double>(gpu.reader->waiting()));
    metrics_.set(gpu_calls, {number, uuid}, static_cast<double>(gpu.seat->calls()));
  }
  for (const LeaseView& lease : node.desk->leases()) {
    for (const int gpu : lease.gpus) {
      const std::string& uuid = node.gpu(gpu).identity.uuid;
      metrics_.set(gpu_holder,
                   {std::to_string(gpu), uuid, to_text(lease.described), lease.is_implicit ? "implicit" : "explicit"},
                   1);
      if (const auto found = lease.found.find(gpu); found != lease.found.end()) {
        metrics_.set(gpu_limit, {std::to_string(gpu), uuid, "found"}, found->second.value());
      }
    }
  }
  return metrics_.text();
}

}  // namespace zeus::daemon
