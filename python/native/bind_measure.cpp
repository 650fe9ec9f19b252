// zeus::Monitor for Python: windows, their measurements, and how certain they are.
#include "bindings.hpp"

#include <zeus/measure.hpp>

#include <limits>
#include <memory>
#include <sstream>

namespace zeus::python {

namespace {

using Indices = std::optional<std::vector<int>>;
using Synchronize = std::optional<Object>;

// What this thread's edge waits for: Python chooses the synchronization for each edge, C++ for each monitor.
thread_local const Object* present_synchronize = nullptr;

void synchronize_if_asked() {
  if (present_synchronize != nullptr) {
    const WithGil gil;
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

template <typename Unit>
std::optional<double> number_of(const std::optional<Unit>& quantity) {
  return quantity ? std::optional{quantity->value()} : std::nullopt;
}

// (value, uncertainty, systematic, method, reason, remark), with None for what is unknown.
Object detail_of(const MeasuredEnergy& measured) {
  if (!measured.energy) {
    return tuple_of(std::nullopt, std::nullopt, std::nullopt, std::nullopt, measured.reason, measured.remark);
  }
  const Energy& energy = *measured.energy;
  return tuple_of(energy.value.value(), energy.uncertainty.value(), number_of(energy.systematic),
                  field::name_of(energy.method), measured.reason, measured.remark);
}

Dict details_of(const std::map<int, MeasuredEnergy>& energies) {
  Dict result;
  for (const auto& [index, measured] : energies) {
    result.set(index, detail_of(measured));
  }
  return result;
}

// Joules by index. An unknown energy is NaN: the dictionary's interface has no other way to say so.
Dict values_of(const std::map<int, MeasuredEnergy>& energies) {
  Dict result;
  for (const auto& [index, measured] : energies) {
    result.set(index, measured.energy ? measured.energy->value.value() : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

Object values_or_none(const std::map<int, MeasuredEnergy>& energies) {
  return energies.empty() ? Object::none() : values_of(energies);
}

Dict throttle_of(const Measurement& measurement) {
  Dict result;
  for (const auto& [index, throttle] : measurement.gpu_throttle) {
    result.set(index, tuple_of(number_of(throttle.power_cap), number_of(throttle.thermal)));
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

void bind_window(const Object& module) {
  Class<Measurement>(module, "Window", "The measurement of a window.")
      .property("name", [](const Measurement& self) { return self.window; })
      .property("start", [](const Measurement& self) { return self.start.value(); })
      .property("end", [](const Measurement& self) { return self.end.value(); })
      .property("start_wall", [](const Measurement& self) { return self.start_wall; })
      .property("time", [](const Measurement& self) { return self.time().value(); })
      .property("settled", [](const Measurement& self) { return self.settled; })
      .property("gpu_energy", [](const Measurement& self) { return values_of(self.gpu_energy); })
      .property("cpu_energy", [](const Measurement& self) { return values_or_none(self.cpu_energy); })
      .property("dram_energy", [](const Measurement& self) { return values_or_none(self.dram_energy); })
      .property("gpu_details", [](const Measurement& self) { return details_of(self.gpu_energy); })
      .property("cpu_details", [](const Measurement& self) { return details_of(self.cpu_energy); })
      .property("dram_details", [](const Measurement& self) { return details_of(self.dram_energy); })
      .property("total_details", [](const Measurement& self) { return detail_of(self.total_gpu_energy()); })
      .property("throttle", As<&throttle_of>{});
}

List power_timeline(const Monitor& self, int gpu, double since) {
  const auto samples = without_gil([&] { return self.power_timeline(gpu, Seconds{since}); });
  List result;
  for (const PowerSample& sample : samples) {
    result.append(tuple_of(sample.at.value(), sample.power.value()));
  }
  return result;
}

List temperature_timeline(const Monitor& self, int gpu, double since) {
  const auto samples = without_gil([&] { return self.temperature_timeline(gpu, Seconds{since}); });
  List result;
  for (const TemperatureSample& sample : samples) {
    result.append(tuple_of(sample.at.value(), sample.temperature.value()));
  }
  return result;
}

Object sampler_cost(const Monitor& self) {
  const SamplerCost cost = self.sampler_cost();
  return tuple_of(cost.running.value(), cost.busy.value(), cost.driver.value());
}

}  // namespace

void bind_measure(const Object& module) {
  bind_window(module);
  Class<Listener>(module, "Listener", "Keeps the sampler running while it lives.").method("close", [](Listener& self) {
    without_gil([&self] { self.held.reset(); });
  });
  Class<Monitor>(module, "Monitor", "Windows of time and the energy used in them.")
      .made_by(As<&make_monitor>{}, {"gpus", "cpus", "log", "complete_log"})
      .method("begin",
              [](Monitor& self, const std::string& name, bool restart, const Synchronize& synchronize) {
                at_edge(synchronize, [&] { self.begin(name, restart); });
              },
              {"name", "restart", "synchronize"})
      .method("end",
              [](Monitor& self, const std::string& name, const Synchronize& synchronize) {
                return at_edge(synchronize, [&] { return self.end(name); });
              },
              {"name", "synchronize"})
      .method(
          "so_far",
          [](const Monitor& self, const std::string& name) { return without_gil([&] { return self.so_far(name); }); },
          {"name"})
      .method("settle",
              [](Monitor& self, const Measurement& window, double patience) {
                return without_gil([&] { return self.settle(window, Seconds{patience}); });
              },
              {"window", "patience"})
      .method("cancel", [](Monitor& self, const std::string& name) { without_gil([&] { self.cancel(name); }); },
              {"name"})
      .method("reset", [](Monitor& self) { without_gil([&self] { self.reset(); }); })
      .method("gpus", As<&Monitor::gpus>{})
      .method("cpus", As<&Monitor::cpus>{})
      .method("listen",
              [](Monitor& self) { return without_gil([&self] { return std::make_unique<Listener>(self.listen()); }); })
      .method("power_timeline", As<&power_timeline>{}, {"gpu", "since"})
      .method("temperature_timeline", As<&temperature_timeline>{}, {"gpu", "since"})
      .method("sampler_cost", As<&sampler_cost>{}, {},
              "Seconds that the sampler ran, worked, and spent in the driver.");
  add_function(
      module, "energy_text",
      [](double joules, double uncertainty) {
        std::ostringstream stream;
        stream << Energy{.value = Joules{joules}, .uncertainty = Joules{uncertainty}, .systematic = {}};
        return stream.str();
      },
      {"joules", "uncertainty"}, "An energy as C++ prints it.");
}

}  // namespace zeus::python
