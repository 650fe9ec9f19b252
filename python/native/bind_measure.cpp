// zeus::Monitor for Python: windows, their measurements, and how certain they are.
#include "bindings.hpp"

#include <zeus/measure.hpp>

#include <limits>
#include <memory>
#include <sstream>

namespace zeus::python {

namespace {

using Indices = std::optional<std::vector<int>>;
using Synchronize = std::optional<py::function>;

// What this thread's edge waits for: Python chooses the synchronization for each edge, C++ for each monitor.
thread_local const py::function* present_synchronize = nullptr;

void synchronize_if_asked() {
  if (present_synchronize != nullptr) {
    const py::gil_scoped_acquire gil;
    (*present_synchronize)();
  }
}

// Runs `work` without the GIL; calls `synchronize` at the edge inside it.
template <typename Work>
auto at_edge(const Synchronize& synchronize, const Work& work) {
  struct Scope {
    explicit Scope(const Synchronize& wanted) { present_synchronize = wanted ? &*wanted : nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { present_synchronize = nullptr; }
  };
  const Scope scope{synchronize};
  return without_gil(work);
}

py::object optional_of(const std::optional<Joules>& joules) {
  return joules ? py::object{py::float_{joules->value()}} : py::object{py::none()};
}

// (value, uncertainty, systematic, method, reason, remark), with None for what is unknown.
py::tuple detail_of(const MeasuredEnergy& measured) {
  if (!measured.energy) {
    return py::make_tuple(py::none(), py::none(), py::none(), py::none(), measured.reason, measured.remark);
  }
  const Energy& energy = *measured.energy;
  return py::make_tuple(energy.value.value(), energy.uncertainty.value(), optional_of(energy.systematic),
                        field::name_of(energy.method), measured.reason, measured.remark);
}

py::dict details_of(const std::map<int, MeasuredEnergy>& energies) {
  py::dict result;
  for (const auto& [index, measured] : energies) {
    result[py::int_{index}] = detail_of(measured);
  }
  return result;
}

// Joules by index. An unknown energy is NaN: the dictionary's interface has no other way to say so.
py::dict values_of(const std::map<int, MeasuredEnergy>& energies) {
  py::dict result;
  for (const auto& [index, measured] : energies) {
    result[py::int_{index}] =
        py::float_{measured.energy ? measured.energy->value.value() : std::numeric_limits<double>::quiet_NaN()};
  }
  return result;
}

py::object values_or_none(const std::map<int, MeasuredEnergy>& energies) {
  return energies.empty() ? py::object{py::none()} : py::object{values_of(energies)};
}

py::dict throttle_of(const Measurement& measurement) {
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? py::object{py::float_{time->value()}} : py::object{py::none()};
  };
  py::dict result;
  for (const auto& [index, throttle] : measurement.gpu_throttle) {
    result[py::int_{index}] = py::make_tuple(seconds(throttle.power_cap), seconds(throttle.thermal));
  }
  return result;
}

struct Listener {
  std::optional<Monitor::Listening> held;
};

std::unique_ptr<Monitor> make_monitor(Indices gpus, Indices cpus, std::string log, std::string complete_log) {
  MonitorOptions options;
  options.gpus = std::move(gpus);
  options.cpus = std::move(cpus);
  options.log = std::move(log);
  options.complete_log = std::move(complete_log);
  options.synchronize = synchronize_if_asked;
  return without_gil([&options] { return std::make_unique<Monitor>(options); });
}

void bind_window(py::module_& module) {
  py::class_<Measurement>(module, "Window", "The measurement of a window.")
      .def_property_readonly("name", [](const Measurement& self) { return py::str{self.window}; })
      .def_property_readonly("start", [](const Measurement& self) { return self.start.value(); })
      .def_property_readonly("end", [](const Measurement& self) { return self.end.value(); })
      .def_property_readonly("start_wall", [](const Measurement& self) { return self.start_wall; })
      .def_property_readonly("time", [](const Measurement& self) { return self.time().value(); })
      .def_property_readonly("settled", [](const Measurement& self) { return self.settled; })
      .def_property_readonly("gpu_energy", [](const Measurement& self) { return values_of(self.gpu_energy); })
      .def_property_readonly("cpu_energy", [](const Measurement& self) { return values_or_none(self.cpu_energy); })
      .def_property_readonly("dram_energy", [](const Measurement& self) { return values_or_none(self.dram_energy); })
      .def_property_readonly("gpu_details", [](const Measurement& self) { return details_of(self.gpu_energy); })
      .def_property_readonly("cpu_details", [](const Measurement& self) { return details_of(self.cpu_energy); })
      .def_property_readonly("dram_details", [](const Measurement& self) { return details_of(self.dram_energy); })
      .def_property_readonly("total_details",
                             [](const Measurement& self) { return detail_of(self.total_gpu_energy()); })
      .def_property_readonly("throttle", throttle_of);
}

py::list power_timeline(const Monitor& self, int gpu, double since) {
  const auto samples = without_gil([&] { return self.power_timeline(gpu, Seconds{since}); });
  py::list result;
  for (const PowerSample& sample : samples) {
    result.append(py::make_tuple(sample.at.value(), sample.power.value()));
  }
  return result;
}

py::list temperature_timeline(const Monitor& self, int gpu, double since) {
  const auto samples = without_gil([&] { return self.temperature_timeline(gpu, Seconds{since}); });
  py::list result;
  for (const TemperatureSample& sample : samples) {
    result.append(py::make_tuple(sample.at.value(), sample.temperature.value()));
  }
  return result;
}

py::tuple sampler_cost(const Monitor& self) {
  const SamplerCost cost = self.sampler_cost();
  return py::make_tuple(cost.running.value(), cost.busy.value(), cost.driver.value());
}

}  // namespace

void bind_measure(py::module_& module) {
  bind_window(module);
  py::class_<Listener>(module, "Listener", "Keeps the sampler running while it lives.")
      .def("close", [](Listener& self) { without_gil([&self] { self.held.reset(); }); });
  py::class_<Monitor>(module, "Monitor", "Windows of time and the energy used in them.")
      .def(py::init(&make_monitor), py::arg("gpus"), py::arg("cpus"), py::arg("log"), py::arg("complete_log"))
      .def(
          "begin",
          [](Monitor& self, const std::string& name, bool restart, const Synchronize& synchronize) {
            at_edge(synchronize, [&] { self.begin(name, restart); });
          },
          py::arg("name"), py::arg("restart"), py::arg("synchronize"))
      .def(
          "end",
          [](Monitor& self, const std::string& name, const Synchronize& synchronize) {
            return at_edge(synchronize, [&] { return self.end(name); });
          },
          py::arg("name"), py::arg("synchronize"))
      .def(
          "so_far",
          [](const Monitor& self, const std::string& name) { return without_gil([&] { return self.so_far(name); }); },
          py::arg("name"))
      .def(
          "settle",
          [](Monitor& self, const Measurement& window, double patience) {
            return without_gil([&] { return self.settle(window, Seconds{patience}); });
          },
          py::arg("window"), py::arg("patience"))
      .def(
          "cancel", [](Monitor& self, const std::string& name) { without_gil([&] { self.cancel(name); }); },
          py::arg("name"))
      .def("reset", [](Monitor& self) { without_gil([&self] { self.reset(); }); })
      .def("gpus", &Monitor::gpus)
      .def("cpus", &Monitor::cpus)
      .def("listen", [](Monitor& self) { return without_gil([&self] { return Listener{self.listen()}; }); })
      .def("power_timeline", power_timeline, py::arg("gpu"), py::arg("since"))
      .def("temperature_timeline", temperature_timeline, py::arg("gpu"), py::arg("since"))
      .def("sampler_cost", sampler_cost, "Seconds that the sampler ran, worked, and spent in the driver.");
  module.def(
      "energy_text",
      [](double joules, double uncertainty) {
        std::ostringstream stream;
        stream << Energy{.value = Joules{joules}, .uncertainty = Joules{uncertainty}, .systematic = {}};
        return stream.str();
      },
      py::arg("joules"), py::arg("uncertainty"), "An energy as C++ prints it.");
}

}  // namespace zeus::python
