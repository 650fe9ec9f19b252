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
  throw py::value_error{"no such choice: " + name};
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
  throw py::value_error{"no such limit: " + name};
}

// Reads without the GIL, and turns the reading into the value or the exception.
template <typename Read>
auto reading(const Read& read) {
  return value_of(without_gil(read));
}

void bind_gpu(py::module_& module) {
  py::class_<Gpu>(module, "Gpu", "The readings of one GPU.")
      .def_property_readonly("index", &Gpu::index)
      .def_property_readonly("driver_index", &Gpu::driver_index)
      .def_property_readonly("vendor",
                             [](const Gpu& self) { return self.vendor() == GpuVendor::nvidia ? "nvidia" : "amd"; })
      .def_property_readonly("name", &Gpu::name)
      .def_property_readonly("uuid", &Gpu::uuid)
      .def_property_readonly("pci_address", &Gpu::pci_address)
      .def_property_readonly("driver", &Gpu::driver)
      .def("energy_mj", [](const Gpu& self) { return milli(reading([&self] { return self.energy(); }).value()); })
      .def(
          "power_mw",
          [](const Gpu& self, const std::string& kind, const std::string& scope) {
            const auto wanted = std::pair{named<PowerKind>(kind), named<PowerScope>(scope)};
            return milli(reading([&] { return self.power(wanted.first, wanted.second); }).power.value());
          },
          py::arg("kind"), py::arg("scope"))
      .def("temperature_c",
           [](const Gpu& self) { return reading([&self] { return self.temperature(); }).temperature.value(); })
      .def(
          "power_limit_mw",
          [](const Gpu& self, const std::string& which) {
            return milliwatts_of(without_gil([&] { return limit_of(self, which); }));
          },
          py::arg("which"))
      .def(
          "supported_memory_clocks_mhz",
          [](const Gpu& self) { return megahertz_of(without_gil([&self] { return self.supported_memory_clocks(); })); })
      .def(
          "supported_graphics_clocks_mhz",
          [](const Gpu& self, double memory_mhz) {
            return megahertz_of(without_gil([&] { return self.supported_graphics_clocks(Megahertz{memory_mhz}); }));
          },
          py::arg("memory_mhz"))
      .def(
          "clock_mhz",
          [](const Gpu& self, const std::string& domain) {
            return std::llround(reading([&] { return self.clock(named<ClockDomain>(domain)); }).value());
          },
          py::arg("domain"))
      .def("persistence_mode", [](const Gpu& self) { return reading([&self] { return self.persistence_mode(); }); })
      .def("throttle_reasons",
           [](const Gpu& self) { return to_string(reading([&self] { return self.throttle_reasons(); })); })
      .def_property_readonly("is_leased",
                             [](const Gpu& self) { return without_gil([&self] { return self.is_leased(); }); })
      .def(
          "lease",
          [](const Gpu& self, double term_s) {
            return without_gil([&] { return std::make_unique<GpuLease>(self.lease(Seconds{term_s})); });
          },
          py::arg("term_s"));
}

void bind_lease(py::module_& module) {
  py::class_<GpuLease>(module, "Lease", "The right to set one GPU; the GPU is put back when it ends.")
      .def(
          "set_power_limit_mw",
          [](GpuLease& self, double milliwatts) {
            return milliwatts_of(without_gil([&] { return self.set_power_limit(Milliwatts{milliwatts}); }));
          },
          py::arg("milliwatts"), "Returns the enforced limit.")
      .def(
          "lock_clocks",
          [](GpuLease& self, const std::string& domain, double minimum_mhz, double maximum_mhz) {
            without_gil([&] {
              self.lock_clocks(named<ClockDomain>(domain),
                               {.minimum = Megahertz{minimum_mhz}, .maximum = Megahertz{maximum_mhz}});
            });
          },
          py::arg("domain"), py::arg("minimum_mhz"), py::arg("maximum_mhz"))
      .def(
          "unlock_clocks",
          [](GpuLease& self, const std::string& domain) {
            without_gil([&] { self.unlock_clocks(named<ClockDomain>(domain)); });
          },
          py::arg("domain"))
      .def(
          "set_persistence_mode",
          [](GpuLease& self, bool enabled) { return reading([&] { return self.set_persistence_mode(enabled); }); },
          py::arg("enabled"))
      .def_property_readonly("overruled",
                             [](const GpuLease& self) { return without_gil([&self] { return self.overruled(); }); })
      .def("restore", [](GpuLease& self) { without_gil([&self] { self.restore(); }); })
      .def("renew", [](GpuLease& self) { without_gil([&self] { self.renew(); }); })
      .def("release", [](GpuLease& self) { without_gil([&self] { self.release(); }); });
}

void bind_cpu(py::module_& module) {
  py::class_<CpuPackage>(module, "Cpu", "The readings of one CPU package and the memory behind it.")
      .def_property_readonly("index", &CpuPackage::index)
      .def_property_readonly("name", &CpuPackage::name)
      .def_property_readonly("counts_memory", &CpuPackage::counts_memory)
      .def("energy_mj", [](const CpuPackage& self) { return reading([&self] { return self.energy(); }).value() * 1e3; })
      .def("memory_energy_mj",
           [](const CpuPackage& self) { return reading([&self] { return self.memory_energy(); }).value() * 1e3; });
}

}  // namespace

void bind_device(py::module_& module) {
  bind_gpu(module);
  bind_lease(module);
  bind_cpu(module);
  module.def(
      "gpus", [] { return without_gil([] { return gpus(); }); }, "The GPUs that this program sees.");
  module.def("cpus", [] { return without_gil([] { return cpus(); }); });
  module.def(
      "device_problems",
      [] {
        std::vector<std::tuple<std::string, std::string, std::string>> result;
        for (const DeviceProblem& problem : without_gil([] { return device_problems(); })) {
          result.emplace_back(problem.device, problem.what, problem.fix);
        }
        return result;
      },
      "What does not work here, as (device, what is wrong, what to do).");
}

}  // namespace zeus::python
