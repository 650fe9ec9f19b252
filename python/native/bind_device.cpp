// The GPUs and CPU packages of this program for Python, and the leases under which GPUs are set. Units are those of the
// package's device layer: milliwatts, millijoules, megahertz, degrees Celsius.
#include "bindings.hpp"

#include <zeus/device.hpp>

#include <cmath>
#include <memory>

namespace zeus::python {

namespace {

std::int64_t milli(double value) {
  return std::llround(value * 1e3);
}

std::int64_t milliwatts_of(const Reading<Watts>& power) {
  return milli(value_of(power).value());
}

std::vector<std::int64_t> megahertz_of(const Reading<std::vector<Megahertz>>& clocks) {
  std::vector<std::int64_t> result;
  for (const Megahertz clock : value_of(clocks)) {
    result.push_back(std::llround(clock.value()));
  }
  return result;
}

// The value with this name, or a ValueError.
template <typename Enum>
Enum named(const std::string& name) {
  if (const std::optional<Enum> value = field::named<Enum>(name)) {
    return *value;
  }
  fail(PyExc_ValueError, "no such choice: " + name);
}

Reading<Watts> limit_of(const Gpu& gpu, const std::string& name) {
  static constexpr std::pair<const char*, Reading<Watts> PowerLimits::*> limits[]{{"current", &PowerLimits::current},
                                                                                  {"standard", &PowerLimits::standard},
                                                                                  {"minimum", &PowerLimits::minimum},
                                                                                  {"maximum", &PowerLimits::maximum},
                                                                                  {"enforced", &PowerLimits::enforced}};
  for (const auto& [known, limit] : limits) {
    if (name == known) {
      return gpu.power_limits().*limit;
    }
  }
  fail(PyExc_ValueError, "no such limit: " + name);
}

// Reads without the GIL, and turns the reading into the value or the exception.
template <typename Read>
auto reading(const Read& read) {
  return value_of(without_gil(read));
}

void bind_gpu(const Object& module) {
  Class<Gpu>(module, "Gpu", "The readings of one GPU.")
      .property("index", As<&Gpu::index>{})
      .property("driver_index", As<&Gpu::driver_index>{})
      .property("vendor", [](const Gpu& self) { return self.vendor() == GpuVendor::nvidia ? "nvidia" : "amd"; })
      .property("name", As<&Gpu::name>{})
      .property("uuid", As<&Gpu::uuid>{})
      .property("pci_address", As<&Gpu::pci_address>{})
      .property("driver", As<&Gpu::driver>{})
      .method("energy_mj", [](const Gpu& self) { return milli(reading([&self] { return self.energy(); }).value()); })
      .method("power_mw",
              [](const Gpu& self, const std::string& kind, const std::string& scope) {
                const auto wanted = std::pair{named<PowerKind>(kind), named<PowerScope>(scope)};
                return milli(reading([&] { return self.power(wanted.first, wanted.second); }).power.value());
              },
              {"kind", "scope"})
      .method("temperature_c",
              [](const Gpu& self) { return reading([&self] { return self.temperature(); }).temperature.value(); })
      .method("power_limit_mw",
              [](const Gpu& self, const std::string& which) {
                return milliwatts_of(without_gil([&] { return limit_of(self, which); }));
              },
              {"which"})
      .method(
          "supported_memory_clocks_mhz",
          [](const Gpu& self) { return megahertz_of(without_gil([&self] { return self.supported_memory_clocks(); })); })
      .method("supported_graphics_clocks_mhz",
              [](const Gpu& self, double memory_mhz) {
                return megahertz_of(without_gil([&] { return self.supported_graphics_clocks(Megahertz{memory_mhz}); }));
              },
              {"memory_mhz"})
      .method("clock_mhz",
              [](const Gpu& self, const std::string& domain) {
                return std::llround(reading([&] { return self.clock(named<ClockDomain>(domain)); }).value());
              },
              {"domain"})
      .method("persistence_mode", [](const Gpu& self) { return reading([&self] { return self.persistence_mode(); }); })
      .method("throttle_reasons",
              [](const Gpu& self) { return to_string(reading([&self] { return self.throttle_reasons(); })); })
      .property("is_leased", [](const Gpu& self) { return without_gil([&self] { return self.is_leased(); }); })
      .method("lease",
              [](const Gpu& self, double term_s) {
                return without_gil([&] { return std::make_unique<GpuLease>(self.lease(Seconds{term_s})); });
              },
              {"term_s"});
}

void bind_lease(const Object& module) {
  Class<GpuLease>(module, "Lease", "The right to set one GPU; the GPU is put back when it ends.")
      .method(
          "set_power_limit_mw",
          [](GpuLease& self, double milliwatts) {
            return milliwatts_of(without_gil([&] { return self.set_power_limit(Milliwatts{milliwatts}); }));
          },
          {"milliwatts"}, "Returns the enforced limit.")
      .method("lock_clocks",
              [](GpuLease& self, const std::string& domain, double minimum_mhz, double maximum_mhz) {
                without_gil([&] {
                  self.lock_clocks(named<ClockDomain>(domain),
                                   {.minimum = Megahertz{minimum_mhz}, .maximum = Megahertz{maximum_mhz}});
                });
              },
              {"domain", "minimum_mhz", "maximum_mhz"})
      .method("unlock_clocks",
              [](GpuLease& self, const std::string& domain) {
                without_gil([&] { self.unlock_clocks(named<ClockDomain>(domain)); });
              },
              {"domain"})
      .method("set_persistence_mode",
              [](GpuLease& self, bool enabled) { return reading([&] { return self.set_persistence_mode(enabled); }); },
              {"enabled"})
      .property("overruled", [](const GpuLease& self) { return without_gil([&self] { return self.overruled(); }); })
      .method("restore", [](GpuLease& self) { without_gil([&self] { self.restore(); }); })
      .method("renew", [](GpuLease& self) { without_gil([&self] { self.renew(); }); })
      .method("release", [](GpuLease& self) { without_gil([&self] { self.release(); }); });
}

void bind_cpu(const Object& module) {
  Class<CpuPackage>(module, "Cpu", "The readings of one CPU package and the memory behind it.")
      .property("index", As<&CpuPackage::index>{})
      .property("name", As<&CpuPackage::name>{})
      .property("counts_memory", As<&CpuPackage::counts_memory>{})
      .method("energy_mj",
              [](const CpuPackage& self) { return reading([&self] { return self.energy(); }).value() * 1e3; })
      .method("memory_energy_mj",
              [](const CpuPackage& self) { return reading([&self] { return self.memory_energy(); }).value() * 1e3; });
}

}  // namespace

void bind_device(const Object& module) {
  bind_gpu(module);
  bind_lease(module);
  bind_cpu(module);
  add_function(
      module, "gpus", [] { return without_gil([] { return gpus(); }); }, {}, "The GPUs that this program sees.");
  add_function(module, "cpus", [] { return without_gil([] { return cpus(); }); });
  add_function(
      module, "device_problems",
      [] {
        std::vector<std::tuple<std::string, std::string, std::string>> result;
        for (const DeviceProblem& problem : without_gil([] { return device_problems(); })) {
          result.emplace_back(problem.device, problem.what, problem.fix);
        }
        return result;
      },
      {}, "What does not work here, as (device, what is wrong, what to do).");
}

}  // namespace zeus::python
