// Reads power and temperature at a steady pace, for Python.
#include "bindings.hpp"

#include "readings_watch.hpp"

namespace zeus::python {

template <>
inline constexpr bool waits_to_end<ReadingsWatch> = true;  // for its thread

namespace {

// The quantities that can be watched: name, and how to read it.
ReadingsWatch::Read reader_of(const std::string& quantity) {
  const auto power = [](PowerKind kind, PowerScope scope) {
    return [kind, scope](const Gpu& gpu) {
      return gpu.power(kind, scope).transform([](const PowerSample& sample) {
        return std::pair{sample.at.value(), sample.power.value()};
      });
    };
  };
  if (quantity == "instant") {
    return power(PowerKind::instant, PowerScope::gpu);
  }
  if (quantity == "average") {
    return power(PowerKind::average, PowerScope::gpu);
  }
  if (quantity == "plain") {
    return power(PowerKind::plain, PowerScope::gpu);
  }
  if (quantity == "module_instant") {
    return power(PowerKind::instant, PowerScope::module);
  }
  if (quantity == "module_average") {
    return power(PowerKind::average, PowerScope::module);
  }
  if (quantity == "memory_average") {
    return power(PowerKind::average, PowerScope::memory);
  }
  if (quantity == "temperature") {
    return [](const Gpu& gpu) {
      return gpu.temperature().transform([](const TemperatureSample& sample) {
        return std::pair{sample.at.value(), sample.temperature.value()};
      });
    };
  }
  fail(PyExc_ValueError, "no such quantity: " + quantity);
}

std::unique_ptr<ReadingsWatch> make_watch(const std::string& quantity, const std::vector<int>& gpus, double period_s,
                                          std::optional<std::size_t> most_runs) {
  std::vector<Gpu> watched;
  watched.reserve(gpus.size());
  for (const int gpu : gpus) {
    watched.emplace_back(gpu);
  }
  auto read = reader_of(quantity);
  return without_gil(
      [&] { return std::make_unique<ReadingsWatch>(watched, std::move(read), Seconds{period_s}, most_runs); });
}

}  // namespace

void bind_readings_watch(const Object& module) {
  Class<ReadingsWatch>(module, "ReadingsWatch", "Reads one quantity of some GPUs at a steady pace.")
      .made_by(As<&make_watch>{}, {"quantity", "gpus", "period_s", "most_runs"})
      .method("stop", [](ReadingsWatch& self) { without_gil([&self] { self.stop(); }); })
      .property("running", As<&ReadingsWatch::running>{})
      .method(
          "runs",
          [](const ReadingsWatch& self, int gpu, double since) {
            const auto runs = without_gil([&] { return self.runs(gpu, since); });
            List result;
            for (const ReadingsWatch::Run& run : runs) {
              result.append(tuple_of(run.first, run.last, run.value));
            }
            return result;
          },
          {"gpu", "since"}, "(first seen, last seen, value), oldest first, on the monotonic clock.")
      .method("trouble", As<&ReadingsWatch::trouble>{}, {"gpu"});
}

}  // namespace zeus::python
