#include "measure/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double disagreement = 0.15;  // between counter and samples, from which on it is said
constexpr Seconds cpu_update{1e-3};

Seconds on_clock(Instant at) {
  return at - Instant{};
}

MeasuredEnergy gpu_energy(const GpuMeter& meter, const GpuEdges& gpu, Instant begin, Instant end) {
  MeasuredEnergy measured;
  if (gpu.breaks_at_begin != gpu.breaks_at_end) {
    measured.reason = gpu.why_broken;
    return measured;
  }
  const bool usable = gpu.begin && gpu.end && gpu.begin->epoch == gpu.end->epoch;
  if (!usable) {
    if (const auto rough = meter.rough_energy(begin, end)) {
      measured.energy = Energy{.value = rough->value,
                               .uncertainty = rough->half_width,
                               .systematic = std::nullopt,
                               .method = EnergyMethod::estimate};
      measured.remark = "from power readings alone: " + meter.why_not();
    } else {
      measured.reason = meter.why_not();
    }
    return measured;
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
      measured.remark = fmt::format("the energy counter says {:.1f} J, the power samples {:.1f} J",
                                    energy.value.value(), by_samples->value());
    }
  }
  return measured;
}

// How far from an edge of the window its counter may have been read: a daemon's answer takes its time.
Seconds away(const CpuMeter::Mark& mark, Instant edge) {
  return std::max(mark.at - edge, edge - mark.at) + mark.latency / 2;
}

MeasuredEnergy cpu_energy(const CpuMeter& meter, const CpuMeter::Mark& begin, const CpuMeter::Mark& end,
                          const Measurement& window) {
  MeasuredEnergy measured;
  if (!begin.total || !end.total) {
    measured.reason = to_string((begin.total ? end : begin).total.failure());
  } else if (begin.breaks != end.breaks) {
    measured.reason = "the energy counter was reset while the window was open";
  } else {
    const Joules value = *end.total - *begin.total;
    const Watts mean = window.time() > Seconds{0} ? value / window.time() : Watts{0};
    const Seconds apart = away(begin, window.edges->begin) + away(end, *window.edges->end);
    measured.energy = Energy{.value = value,
                             .uncertainty = mean * (cpu_update + apart) + meter.resolution(),
                             .systematic = std::nullopt,
                             .method = EnergyMethod::counter};
  }
  return measured;
}

}  // namespace

Measurement measurement_of(const Sampler& sampler, const std::shared_ptr<WindowEdges>& edges, bool settled) {
  const std::lock_guard guard{edges->mutex};
  Measurement result;
  result.window = edges->name;
  result.start = on_clock(edges->begin);
  result.end = on_clock(*edges->end);
  result.start_wall = static_cast<double>(edges->begin_wall.microseconds_since_epoch) * 1e-6;
  result.settled = settled;
  result.edges = edges;
  for (const GpuEdges& gpu : edges->gpus) {
    const GpuMeter& meter = sampler.gpu(gpu.gpu);
    result.gpu_energy[gpu.gpu] = gpu_energy(meter, gpu, edges->begin, *edges->end);
    result.gpu_throttle[gpu.gpu] = meter.throttled(edges->begin, *edges->end);
  }
  for (const CpuEdges& cpu : edges->cpus) {
    const CpuMeter& package = sampler.cpu(cpu.cpu, device::CpuDomain::package);
    result.cpu_energy[cpu.cpu] = cpu_energy(package, cpu.package_begin, cpu.package_end, result);
    const CpuMeter& memory = sampler.cpu(cpu.cpu, device::CpuDomain::dram);
    if (memory.present()) {
      result.dram_energy[cpu.cpu] = cpu_energy(memory, cpu.memory_begin, cpu.memory_end, result);
    }
  }
  return result;
}

}  // namespace zeus::measure
