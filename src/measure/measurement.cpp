#include "measure/shared_errors.hpp"
#include "measure/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::measure {

namespace {

constexpr double disagreement = 0.15;  // a remark reports a larger one between counter and samples
constexpr Seconds cpu_update{1e-3};
constexpr Seconds cpu_standstill{0.1};  // a counter that did not move for longer counts nothing, as in virtual machines

// Clears the values of a former window, and keeps their memory.
void clear(MeasuredEnergy& measured) {
  measured.energy.reset();
  measured.reason.clear();
  measured.remark.clear();
}

// Removes devices that a former window measured and this one does not.
template <typename Value, typename Edges, typename Number>
void forget_others(std::map<int, Value>& values, const Edges& edges, Number number) {
  std::erase_if(values,
                [&](const auto& entry) { return std::ranges::find(edges, entry.first, number) == edges.end(); });
}

// Nothing if the energy is unknown.
std::optional<EnergyBetween> measure_gpu(const GpuMeter& meter, const GpuEdges& gpu, Instant begin, Instant end,
                                         MeasuredEnergy& measured) {
  clear(measured);
  if (gpu.breaks_at_begin != gpu.breaks_at_end) {
    measured.reason = gpu.why_broken;
    return std::nullopt;
  }
  const bool usable = gpu.begin && gpu.end && gpu.begin->epoch == gpu.end->epoch;
  if (!usable) {
    const auto by_power = meter.rough_energy(begin, end);
    const auto rough = by_power ? by_power : meter.hardly_any_energy(begin, end);
    if (rough) {
      measured.energy = Energy{.value = rough->value,
                               .uncertainty = rough->half_width,
                               .systematic = std::nullopt,
                               .method = EnergyMethod::estimate};
      measured.remark = by_power ? "from power readings alone: " + meter.why_not()
                                 : "too short for any reading: the interval is what the GPU draws at most";
    } else {
      measured.reason = meter.why_not();
    }
    return rough;
  }
  const EnergyBetween energy = energy_between(*gpu.begin, *gpu.end);
  measured.energy = Energy{.value = std::max(Joules{0}, energy.value),
                           .uncertainty = energy.half_width,
                           .systematic = std::nullopt,
                           .method = meter.method()};
  if (meter.method() == EnergyMethod::integrated) {
    measured.energy->uncertainty =
        std::max(measured.energy->uncertainty, meter.possibly_beyond_readings(begin, end, measured.energy->value));
  }
  if (meter.counter_sees_a_part()) {
    measured.remark = "the energy counter seems to look at a part of the time only, as power samples do";
  }
  if (const auto by_samples = meter.energy_by_samples(begin, end)) {
    const Joules apart = *by_samples - energy.value;
    if (std::abs(apart.value()) >
        std::max(disagreement * energy.value.value(), 3 * measured.energy->uncertainty.value())) {
      measured.remark.clear();
      fmt::format_to(std::back_inserter(measured.remark),
                     "the energy counter says {:.1f} J, the power samples {:.1f} J", energy.value.value(),
                     by_samples->value());
    }
  }
  return energy;
}

// Measures all GPUs of a window, and compares their errors.
void measure_gpus(const Sampler& sampler, const WindowEdges& edges, Measurement& result) {
  thread_local std::vector<InWindow> known;
  known.clear();
  for (const GpuEdges& gpu : edges.gpus) {
    const GpuMeter& meter = sampler.gpu(gpu.gpu);
    const auto energy = measure_gpu(meter, gpu, edges.begin, *edges.end, result.gpu_energy[gpu.gpu]);
    if (energy) {
      known.push_back({.energy = *energy, .load = edges.gpus.size() > 1 ? meter.recent_load() : RecentLoad{}});
    }
    result.gpu_throttle[gpu.gpu] = meter.throttled(edges.begin, *edges.end);
  }
  const SharedErrors shared = shared_errors(known);
  auto next = known.begin();
  for (const GpuEdges& gpu : edges.gpus) {
    if (auto& energy = result.gpu_energy[gpu.gpu].energy) {
      set_parts(*energy, *next++, shared);
    }
  }
}

// How far from an edge of the window its counter may have been read: a daemon's answer takes its time.
Seconds away(const CpuMeter::Mark& mark, Instant edge) {
  return std::max(mark.at - edge, edge - mark.at) + mark.latency / 2;
}

void measure_cpu(const CpuMeter& meter, const CpuMeter::Mark& begin, const CpuMeter::Mark& end,
                 const Measurement& window, MeasuredEnergy& measured) {
  clear(measured);
  if (!begin.total || !end.total) {
    measured.reason = to_string((begin.total ? end : begin).total.failure());
  } else if (begin.breaks != end.breaks) {
    measured.reason = "the energy counter was reset while the window was open";
  } else {
    const Joules value = *end.total - *begin.total;
    if (value == Joules{0} && window.time() > cpu_standstill) {
      measured.reason = "the energy counter stands still";
      return;
    }
    const Watts mean = window.time() > Seconds{0} ? value / window.time() : Watts{0};
    const Seconds apart = away(begin, window.edges->begin) + away(end, *window.edges->end);
    measured.energy = Energy{.value = value,
                             .uncertainty = mean * (cpu_update + apart) + meter.resolution(),
                             .systematic = std::nullopt,
                             .method = EnergyMethod::counter};
  }
}

}  // namespace

void measurement_of(const Sampler& sampler, const std::shared_ptr<WindowEdges>& edges, bool settled,
                    Measurement& result) {
  const std::lock_guard guard{edges->mutex};
  result.window = std::string_view{edges->name};
  result.start = edges->begin - Instant{};
  result.end = *edges->end - Instant{};
  result.start_wall = static_cast<double>(edges->begin_wall.microseconds_since_epoch) * 1e-6;
  result.settled = settled;
  result.edges = edges;
  forget_others(result.gpu_energy, edges->gpus, &GpuEdges::gpu);
  forget_others(result.gpu_throttle, edges->gpus, &GpuEdges::gpu);
  forget_others(result.cpu_energy, edges->cpus, &CpuEdges::cpu);
  forget_others(result.dram_energy, edges->cpus, &CpuEdges::cpu);
  measure_gpus(sampler, *edges, result);
  for (const CpuEdges& cpu : edges->cpus) {
    const CpuMeter& package = sampler.cpu(cpu.cpu, device::CpuDomain::package);
    measure_cpu(package, cpu.package_begin, cpu.package_end, result, result.cpu_energy[cpu.cpu]);
    const CpuMeter& memory = sampler.cpu(cpu.cpu, device::CpuDomain::dram);
    if (memory.present()) {
      measure_cpu(memory, cpu.memory_begin, cpu.memory_end, result, result.dram_energy[cpu.cpu]);
    } else {
      result.dram_energy.erase(cpu.cpu);
    }
  }
}

}  // namespace zeus::measure
