#include "daemon/gpu_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace zeus::daemon {

using protocol::GpuReadings;
using protocol::Moment;

namespace {

constexpr Seconds between_openings{1};
constexpr std::array kinds{PowerKind::instant, PowerKind::average, PowerKind::plain};
constexpr std::array power_scopes{PowerScope::gpu, PowerScope::module, PowerScope::memory};

protocol::ReportedPower read_power(const device::Gpu& gpu, PowerKind kind, PowerScope scope, Instant tried) {
  return {kind, scope, {gpu.power(kind, scope), Moment{.at = tried, .latency = {}}}};
}

bool has_power(const device::Gpu& gpu, PowerKind kind, PowerScope scope) {
  const std::optional<device::GpuFeature> feature = device::power_feature(kind, scope);
  return feature && gpu.features().has(*feature);
}

}  // namespace

GpuReader::GpuReader(Loop& loop, const device::DiscoveredGpu& gpu, std::shared_ptr<device::DriverGate> gate,
                     DeviceThread::Bounds bounds)
    : loop_{loop},
      on_thread_{std::make_shared<OnThread>(OnThread{
          gpu.gpu, std::move(gate), static_cast<std::uint32_t>(gpu.number.value_or(0)), loop.clock(), Instant{}})},
      thread_{loop, fmt::format("read-gpu{}", gpu.number.value_or(0)), bounds} {
}

void GpuReader::ask(std::uint32_t parts, std::function<void(End, const GpuReadings&)> done) {
  waiting_.push_back({parts, std::move(done)});
  if (!busy_ || thread_.stuck_since()) {
    begin();
  }
}

void GpuReader::begin() {
  if (waiting_.empty()) {
    return;
  }
  std::vector<Asked> asked = std::exchange(waiting_, {});
  if (thread_.stuck_since()) {
    answer(asked, End::stuck, {});
    return;
  }
  std::uint32_t parts = 0;
  for (const Asked& one : asked) {
    parts |= one.parts;
  }
  under_way_ = std::move(asked);
  busy_ = true;
  const auto readings = std::make_shared<GpuReadings>();
  thread_.ask({.work = [on = on_thread_, parts, readings] { on->read(parts, *readings); },
               .ended =
                   [this, readings, was_late = false](End end) mutable {
                     if (!was_late) {
                       answer(std::exchange(under_way_, {}), end, end == End::done ? *readings : GpuReadings{});
                     }
                     was_late = end == End::late;
                     if (was_late) {
                       answer(std::exchange(waiting_, {}), End::stuck, {});
                     } else {
                       busy_ = false;
                       begin();
                     }
                   },
               .is_wanted = {}});
}

void GpuReader::answer(const std::vector<Asked>& asked, End end, const GpuReadings& readings) {
  for (const Asked& one : asked) {
    one.done(end, readings);
  }
}

void GpuReader::OnThread::read(std::uint32_t parts, GpuReadings& readings) {
  const Instant tried = clock.now();
  const Moment now{.at = tried, .latency = {}};
  bool lost = false;
  {
    const auto inside = gate->enter();
    readings.id = id;
    readings.uuid = gpu->identity().uuid;
    readings.generation = gpu->generation();
    if ((parts & Parts::energy) != 0) {
      const Reading<device::Stamped<Joules>> counter = gpu->energy();
      readings.energy = {counter, now};
      lost = lost || (!counter && counter.failure().reason == Reason::lost);
      if (const Reading<device::EnergyCounter> kind = gpu->energy_counter()) {
        readings.counter = protocol::ReportedCounter{*kind};
      }
    }
    if ((parts & (power_now | Parts::power)) != 0) {
      for (const PowerScope scope : power_scopes) {
        for (const PowerKind kind : kinds) {
          const bool wanted = (parts & Parts::power) != 0 || (scope == PowerScope::gpu && readings.power.empty());
          if (wanted && has_power(*gpu, kind, scope)) {
            readings.power.push_back(read_power(*gpu, kind, scope, tried));
            lost = lost || readings.power.back().power.reason == Reason::lost;
          }
        }
      }
    }
    if ((parts & Parts::limits) != 0) {
      readings.limits = {gpu->power_limits(), now};
      lost = lost || readings.limits.current.reason == Reason::lost;
    }
    if ((parts & Parts::clocks) != 0) {
      readings.clocks = {gpu->clocks(), now};
      for (const auto& domain : names_of(ClockDomain{})) {
        const auto locked = gpu->locked_clocks(domain.value).transform([](const std::optional<ClockRange>& range) {
          return protocol::LockState{range};
        });
        readings.locks.push_back({domain.value, {locked, now}});
      }
    }
    if ((parts & Parts::state) != 0) {
      readings.temperature = {gpu->temperature(), now};
      readings.utilization = {gpu->utilization().transform([](const device::Utilization& used) {
                                return protocol::ReportedUtilization{used.gpu, used.memory};
                              }),
                              now};
      readings.throttle = {gpu->throttle_reasons().transform(
                               [](ThrottleReasons reasons) { return protocol::ReportedThrottle{reasons}; }),
                           now};
      readings.throttle_times = {gpu->throttle_times(), {}};
    }
    if ((parts & Parts::persistence) != 0) {
      readings.persistence_mode = {gpu->persistence_mode(), now};
    }
    if ((parts & Parts::supported_clocks) != 0) {
      if (const Reading<std::vector<Megahertz>> memory = gpu->supported_memory_clocks()) {
        readings.supported_clocks.emplace();
        for (const Megahertz step : *memory) {
          readings.supported_clocks->push_back({step, gpu->supported_graphics_clocks(step).value_or({})});
        }
      }
    }
  }
  if (lost && tried >= next_opening) {
    next_opening = tried + between_openings;
    gate->reopen(*gpu);
  }
}

}  // namespace zeus::daemon
