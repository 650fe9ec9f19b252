// What the daemon reports of itself, and everything that one answer can read.

#include "daemon/api.hpp"
#include "device/pci_address.hpp"
#include "protocol/device_readings.hpp"
#include "protocol/discovery.hpp"
#include "protocol/wire_values.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

using protocol::Ids;
using protocol::Scope;
using service::Anyone;
using service::AnyToken;

namespace {

bool is_enabled(const Node& node, Scope group) {
  return std::ranges::find(*node.access.served, group) != node.access.served->end();
}

// What is reported of a device that does not answer.
template <typename Value>
protocol::ReportedReading<Value> no_answer() {
  return {Reading<Value>{Failure{Reason::timeout, "a call to its driver hangs"}}, {}};
}

protocol::GpuReadings unanswered(int number, const std::string& uuid) {
  protocol::GpuReadings readings;
  readings.id = static_cast<std::uint32_t>(number);
  readings.uuid = uuid;
  readings.energy = no_answer<Joules>();
  constexpr Failure hangs{Reason::timeout, "a call to its driver hangs"};
  readings.limits = {PowerLimits{hangs, hangs, hangs, hangs, hangs}, {}};
  readings.clocks = {device::Clocks{hangs, hangs, hangs, hangs, hangs}, {}};
  readings.temperature = no_answer<Celsius>();
  readings.utilization = no_answer<protocol::ReportedUtilization>();
  readings.throttle = no_answer<protocol::ReportedThrottle>();
  readings.throttle_times = {device::ThrottleTimes{Instant{}, hangs, hangs, hangs, hangs, hangs}, {}};
  readings.persistence_mode = no_answer<bool>();
  return readings;
}

protocol::CpuReadings unanswered(int number, const device::CpuIdentity& identity) {
  protocol::CpuReadings readings;
  readings.id = static_cast<std::uint32_t>(number);
  readings.name = identity.name;
  readings.package.energy = no_answer<Joules>();
  readings.dram.energy = no_answer<Joules>();
  return readings;
}

void discover(Node& node, const SharedCall& call) {
  protocol::DiscoveryAnswer told;
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    const ServedGpu& gpu = node.gpus[i];
    told.gpus.push_back({.id = static_cast<std::uint32_t>(i),
                         .name = gpu.identity.name,
                         .pci_address = to_string(gpu.identity.pci),
                         .cumulative_energy_available = gpu.counts_energy,
                         .uuid = gpu.identity.uuid,
                         .vendor = std::string{protocol::vendor_word(gpu.identity.vendor)},
                         .driver = gpu.identity.driver,
                         .allowed_power_limits = {}});
    std::vector<device::WattRange> allowed =
        allowed_power_limits(node.desk->policy(), client_of(*call).asker(), {static_cast<int>(i), gpu.identity.uuid});
    if (!allowed.empty()) {
      told.gpus.back().allowed_power_limits = std::move(allowed);
    }
  }
  for (std::size_t i = 0; i < node.cpus.size(); ++i) {
    const CpuReader& reader = *node.cpus[i].reader;
    told.cpus.push_back(
        {.id = static_cast<std::uint32_t>(i), .dram_available = reader.has_dram(), .name = reader.identity().name});
  }
  told.enabled_api_groups.emplace();
  for (const Scope group : *node.access.served) {
    told.enabled_api_groups->emplace_back(field::name_of(group));
  }
  told.auth_required = service::needs_token(call->peer(), door, node.access);
  told.zeusd = node.identity;
  call->answer(records::json_line(told));
}

void tell_time(Node& node, const SharedCall& call) {
  call->answer(records::json_line(protocol::TimeAnswer{protocol::milliseconds_of(node.loop.clock().wall())}));
}

void who_am_i(Node& /*node*/, const SharedCall& call) {
  if (const std::optional<tokens::Claims>& claims = call->visitor().claims) {
    call->answer(records::json_line(protocol::WhoAmIAnswer{claims->subject, claims->scopes, claims->expires}));
  } else {
    call->refuse(protocol::Status::not_found, no_token_here);
  }
}

void readings(Node& node, const SharedCall& call) {
  std::optional<Ids> gpu_ids;
  std::optional<Ids> cpu_ids;
  std::optional<std::string> words;
  if (!call->read_query({{"gpu_ids", gpu_ids}, {"cpu_ids", cpu_ids}, {"parts", words}})) {
    return;
  }
  const std::optional<std::uint32_t> asked = words ? protocol::GpuParts::read(*words) : protocol::GpuParts::usual;
  if (!asked) {
    call->refuse(protocol::Status::bad_request,
                 "'parts' are some of " + protocol::GpuParts::text(~std::uint32_t{0}) + ", separated by commas");
    return;
  }
  // A device that the client may not read is refused if asked for by name; otherwise it is left out.
  const Asker asker = client_of(*call).asker();
  const auto has_scope = [&](Scope group) {
    return !service::needs_token(call->peer(), door, node.access) || call->visitor().may(group);
  };
  std::set<int> gpus;
  std::set<int> cpus;
  if (is_enabled(node, Scope::gpu_read) && has_scope(Scope::gpu_read) && (gpu_ids || !cpu_ids)) {
    if (!choose_gpus(node, call, gpu_ids, ErrorForm::json, gpus)) {
      return;
    }
    if (!gpu_ids) {
      std::erase_if(gpus, [&](int gpu) { return !verdict_on_reading(node, call, gpu).allowed; });
    } else if (!may_read(node, call, gpus)) {
      return;
    }
  } else if (gpu_ids) {
    call->refuse(protocol::Status::forbidden, "GPUs may not be read here");
    return;
  }
  if (is_enabled(node, Scope::cpu_read) && has_scope(Scope::cpu_read) && (cpu_ids || !gpu_ids)) {
    if ((cpu_ids || decide(node.desk->policy(), asker, {.action = Action::read_cpu}).allowed) &&
        !choose_cpus(node, call, cpu_ids, cpus)) {
      return;
    }
  } else if (cpu_ids) {
    call->refuse(protocol::Status::forbidden, "CPU packages may not be read here");
    return;
  }
  // A device that does not answer is included, with the reason.
  const auto told = std::make_shared<protocol::Readings>();
  told->gpus.resize(gpus.size());
  told->cpus.resize(cpus.size());
  const auto gathered = std::make_shared<Gathered>(gpus.size() + cpus.size() + 1, [&node, call, told](const Refusals&) {
    told->now = node.loop.clock().now();
    told->timestamp_ms = protocol::milliseconds_of(node.loop.clock().wall());
    told->instance = node.identity.instance;
    call->answer(records::json_line(*told));
  });
  std::size_t position = 0;
  for (const int gpu : gpus) {
    node.gpu(gpu).reader->ask(*asked, [&node, told, gathered, gpu, position](DeviceThread::End end,
                                                                             const protocol::GpuReadings& readings) {
      told->gpus[position] = end == DeviceThread::End::done ? readings : unanswered(gpu, node.gpu(gpu).identity.uuid);
      gathered->add(gpu, std::nullopt);
    });
    ++position;
  }
  position = 0;
  for (const int cpu : cpus) {
    node.cpu(cpu).reader->ask(
        [&node, told, gathered, cpu, position](DeviceThread::End end, const protocol::CpuReadings& readings) {
          told->cpus[position] =
              end == DeviceThread::End::done ? readings : unanswered(cpu, node.cpu(cpu).reader->identity());
          gathered->add(cpu, std::nullopt);
        });
    ++position;
  }
  gathered->add(0, std::nullopt);
}

}  // namespace

void show_metrics(Node& node, const SharedCall& call) {
  const auto left = std::make_shared<std::size_t>(node.gpus.size() + node.cpus.size() + 1);
  const auto one_less = [&node, call, left] {
    if (--*left == 0) {
      call->answer(node.metrics.text(node), protocol::metrics_type);
    }
  };
  using Parts = GpuReader::Parts;
  constexpr std::uint32_t parts = Parts::energy | GpuReader::power_now | Parts::limits | Parts::state;
  for (ServedGpu& gpu : node.gpus) {
    gpu.reader->ask(parts, [&node, &gpu, one_less](GpuReader::End end, const protocol::GpuReadings& readings) {
      // A device that hangs reports nothing, and its earlier values no longer hold.
      node.metrics.note_gpu(gpu, end == GpuReader::End::done ? readings : protocol::GpuReadings{});
      one_less();
    });
  }
  for (ServedCpu& cpu : node.cpus) {
    cpu.reader->ask([&node, &cpu, one_less](CpuReader::End end, const protocol::CpuReadings& readings) {
      node.metrics.note_cpu(cpu, end == CpuReader::End::done ? readings : protocol::CpuReadings{});
      one_less();
    });
  }
  one_less();
}

std::span<const Row> node_rows() {
  static const Row rows[]{
      // Without a token, clients learn what there is.
      {"GET", "/discover", Anyone{}, discover},      {"GET", "/time", Anyone{}, tell_time},
      {"GET", "/auth/whoami", AnyToken{}, who_am_i}, {"GET", "/metrics", AnyToken{}, show_metrics},
      {"GET", "/v1/readings", AnyToken{}, readings},
  };
  return rows;
}

}  // namespace zeus::daemon
