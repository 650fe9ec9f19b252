#include "backends/rapl/rapl_backend.hpp"

#include "backends/rapl/rapl_package.hpp"
#include "backends/rapl/zones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace zeus::backends::rapl {

using device::CpuDomain;

namespace {

constexpr const char* permit =
    "run `sudo chmod -R a+r /sys/class/powercap/intel-rapl/` (until the next boot), or let zeusd read it for you";
constexpr const char* reload =
    "run `sudo modprobe -r intel_rapl_msr && sudo modprobe intel_rapl_msr`, and look at `dmesg`";

DeviceProblem problem_of(const std::string& device, const Failure& failure) {
  return {device, fmt::format("its energy counter cannot be used: {}", to_string(failure)),
          failure.reason == Reason::permission ? permit : reload};
}

DeviceProblem absence_of_zones() {
  return {"CPU packages", "the kernel shows no RAPL zone under /sys/class/powercap",
          "on a machine of your own run `sudo modprobe intel_rapl_msr`; in a container start it with `-v "
          "/sys/class/powercap/intel-rapl:/zeus_sys/class/powercap/intel-rapl:ro`; most virtual machines have none"};
}

}  // namespace

device::Discovery RaplBackend::discover() {
  device::Discovery found;
  found.kind = device::DeviceKind::cpu;
  ZoneScan scan = scan_zones(tree_);
  found.problems = std::move(scan.problems);
  for (const PackageZones& zones : scan.packages) {
    const auto package = std::make_shared<RaplPackage>(tree_, clock_, static_cast<int>(found.cpus.size()), zones);
    if (const auto reading = package->energy(CpuDomain::package); !reading) {
      found.problems.push_back(problem_of(zones.name, reading.failure()));
    }
    if (const auto reading = package->energy(CpuDomain::dram); !reading && zones.dram) {
      found.problems.push_back(problem_of(zones.name + " dram", reading.failure()));
    }
    found.cpus.push_back(package);
  }
  if (found.cpus.empty()) {
    found.absence = absence_of_zones();
  } else {
    const auto with_dram =
        std::ranges::count_if(scan.packages, [](const PackageZones& zones) { return zones.dram.has_value(); });
    found.summary = fmt::format("RAPL: {} package{}, {} with memory", found.cpus.size(),
                                found.cpus.size() == 1 ? "" : "s", with_dram);
  }
  return found;
}

}  // namespace zeus::backends::rapl
