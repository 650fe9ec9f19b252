#include "cli/device_report.hpp"

#include "base/clock.hpp"
#include "control/ledger.hpp"
#include "control/state_folder.hpp"
#include "device/cpu_package.hpp"
#include "device/update_period.hpp"
#include "drivers/session/session.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace zeus::cli {

namespace {

// An empty back-end is worth mentioning only if no other back-end found that kind of device either.
void explain_absence(const Context& context, DeviceReport& report) {
  // A virtual driver that does not find its session answers as a driver does without its kernel module.
  const bool in_session = context.environment.get(drivers::session_variable).has_value();
  if (in_session && report.inventory.gpus.empty()) {
    std::erase_if(report.problems, [](const DeviceProblem& problem) { return problem.device.ends_with(" driver"); });
    report.problems.push_back({"virtual", "the session of `zeus virtual` that this runs in is over, or another user's",
                               "start it under `zeus virtual` again, with --shared if another user runs it"});
  }
  for (const device::BackendReport& backend : report.inventory.backends) {
    const bool about_gpus = backend.kind == device::DeviceKind::gpu;
    const bool nothing_found = about_gpus ? report.inventory.gpus.empty() : report.inventory.cpus.empty();
    if (backend.absence && nothing_found && !(in_session && about_gpus)) {
      report.problems.push_back(*backend.absence);
    }
  }
}

void look_at_leases(const Context& context, DeviceReport& report) {
  const std::vector<device::DiscoveredGpu>& gpus = report.inventory.gpus;
  report.leases.resize(gpus.size());
  try {
    std::ranges::copy(control::state_folder_problems(context.environment, ::geteuid()),
                      std::back_inserter(report.problems));
  } catch (const Error& error) {
    report.problems.push_back({"records of leases", error.message(), error.advice()});
    return;
  }
  const auto folder = control::find_state_folder(context.environment, ::geteuid());
  if (!folder) {
    return;
  }
  const control::Ledger ledger{FileTree{*folder}, context.files};
  for (const std::string& uuid : ledger.gpus()) {
    const auto gpu =
        std::ranges::find(gpus, uuid, [](const device::DiscoveredGpu& one) { return one.gpu->identity().uuid; });
    const std::string name = gpu != gpus.end() ? to_text(*gpu) : uuid;
    try {
      const std::optional<control::LeaseRecord> record = ledger.read(uuid);
      const auto standing = record ? ledger.standing(*record, context.clock.now()) : control::Standing::past;
      const bool held = standing == control::Standing::held || standing == control::Standing::child_abandoned;
      if (held && gpu != gpus.end()) {
        report.leases[static_cast<std::size_t>(gpu - gpus.begin())] = *record;
      }
      const control::Claim* left = nullptr;
      if (standing == control::Standing::abandoned) {
        left = &*record;
      } else if (standing == control::Standing::child_abandoned) {
        left = record->child();
      }
      if (left != nullptr && !left->found.empty()) {
        report.problems.push_back(
            {name, fmt::format("{} ended without putting it back to {}", to_text(*left), to_text(left->found)),
             gpu != gpus.end()
                 ? "run `zeus restore`, which puts it back"
                 : fmt::format("run `zeus restore` where this GPU can be seen; if it is gone for good, `zeus "
                               "restore --gpu {} --forget`",
                               uuid)});
      }
    } catch (const Error& error) {
      report.problems.push_back({name, error.message(), error.advice()});
    }
  }
}

// Not every user may read a daemon's records, so the daemon is asked.
void look_at_lessor(const Context& context, DeviceReport& report) {
  if (!context.lessor) {
    return;
  }
  const auto clients = context.lessor->clients();
  for (std::size_t i = 0; i < report.leases.size(); ++i) {
    const auto found = clients.find(report.inventory.gpus[i].gpu->identity().uuid);
    if (found != clients.end() && !report.leases[i]) {
      const control::LeaseClient& client = found->second;
      control::Claim& claim = report.leases[i].emplace();
      claim.holder = client.process.value_or(Holder{0, 0, "zeusd"});
      claim.client = client;
    }
  }
}

struct CpuCounter {
  const device::CpuPackage* cpu = nullptr;
  device::CpuDomain domain = device::CpuDomain::package;
  Joules value;
};

std::vector<CpuCounter> read_cpu_counters(const device::Inventory& inventory) {
  std::vector<CpuCounter> counters;
  for (const auto& cpu : inventory.cpus) {
    for (const device::CpuDomain domain : {device::CpuDomain::package, device::CpuDomain::dram}) {
      if (const auto energy = cpu->energy(domain)) {
        counters.push_back({.cpu = cpu.get(), .domain = domain, .value = energy->value});
      }
    }
  }
  return counters;
}

// Working counters move every millisecond; those of virtual machines may never do.
void report_still_counters(const std::vector<CpuCounter>& before, DeviceReport& report) {
  for (const CpuCounter& counter : before) {
    const auto now = counter.cpu->energy(counter.domain);
    if (now && now->value == counter.value) {
      const bool memory = counter.domain == device::CpuDomain::dram;
      report.problems.push_back(
          {counter.cpu->identity().name,
           memory ? "the energy counter of its memory stands still" : "its energy counter stands still",
           "its energy is unknown; in a virtual machine, measure on the host"});
    }
  }
}

}  // namespace

DeviceReport gather_devices(Context& context) {
  constexpr Seconds between_looks{0.1};
  DeviceReport report;
  report.inventory = device::take_inventory(context.backends, context.environment);
  report.problems = report.inventory.problems;
  const Instant began = context.clock.now();
  const std::vector<CpuCounter> counters = read_cpu_counters(report.inventory);
  std::vector<const device::Gpu*> gpus;
  std::ranges::transform(report.inventory.gpus, std::back_inserter(gpus),
                         [](const device::DiscoveredGpu& found) { return found.gpu.get(); });
  report.update_periods = device::watch_update_periods(gpus, context.clock);
  if (!counters.empty()) {
    context.clock.sleep_until(began + between_looks);
    report_still_counters(counters, report);
  }
  look_at_leases(context, report);
  look_at_lessor(context, report);
  explain_absence(context, report);
  return report;
}

ShownPower power_to_show(const device::Gpu& gpu) {
  ShownPower shown{gpu.power(PowerKind::instant, PowerScope::gpu), PowerKind::instant};
  for (const PowerKind kind : {PowerKind::average, PowerKind::plain}) {
    // The reason of this failure is more useful than "not supported" for another kind.
    const bool replaceable = !shown.reading && shown.reading.failure().reason == Reason::unsupported;
    if (auto reading = gpu.power(kind, PowerScope::gpu); !shown.reading && (reading || replaceable)) {
      shown = {std::move(reading), kind};
    }
  }
  return shown;
}

}  // namespace zeus::cli
