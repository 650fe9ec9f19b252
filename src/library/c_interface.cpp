// zeus.h: each function calls its C++ counterpart behind a wall that no exception passes. Training is in
// c_training.cpp.
#include <zeus/zeus.h>
#include <zeus/error.hpp>
#include <zeus/measure.hpp>
#include <zeus/version.hpp>

#include "base/c_wall.hpp"
#include "library/c_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>

// NOLINTBEGIN(readability-identifier-naming): the names are those of zeus.h
struct zeus_monitor {
  explicit zeus_monitor(const zeus::MonitorOptions& options) : monitor{options} {}
  zeus::Monitor monitor;
  std::mutex mutex;
  std::optional<zeus::Monitor::Listening> listening;
};

struct zeus_measurement {
  zeus::Measurement measurement;
};
// NOLINTEND(readability-identifier-naming)

namespace {

using zeus::c_wall::expect;
using zeus::c_wall::give_back;
using zeus::c_wall::known_part;
using zeus::c_wall::numbers;
using zeus::c_wall::unknown;
using zeus::library::guarded;

// A fixed buffer, so that running out of memory can be reported as well.
thread_local char last_error[512] = "";

static_assert(zeus::c_wall::status_of(zeus::ErrorKind::invalid_argument) == ZEUS_INVALID_ARGUMENT &&
              zeus::c_wall::status_of(zeus::ErrorKind::internal) == ZEUS_INTERNAL);

zeus::MonitorOptions monitor_options_from(const zeus_options* given) {
  zeus::MonitorOptions options;
  if (given == nullptr) {
    return options;
  }
  const zeus_options full = known_part(given);
  if (full.gpus != nullptr) {
    options.gpus = numbers(full.gpus, full.gpu_count);
  }
  if (full.cpus != nullptr) {
    options.cpus = numbers(full.cpus, full.cpu_count);
  }
  if (full.synchronize != nullptr) {
    options.synchronize = [call = full.synchronize, data = full.synchronize_data] {
      if (const int code = call(data); code != 0) {
        throw zeus::Error{zeus::ErrorKind::unavailable,
                          fmt::format("the synchronization callback failed with {}", code),
                          "find out why the callback failed"};
      }
    };
  }
  options.log = full.log != nullptr ? full.log : "";
  options.complete_log = full.complete_log != nullptr ? full.complete_log : "";
  return options;
}

zeus_energy c_energy(const zeus::MeasuredEnergy& measured) {
  zeus_energy energy{};
  energy.known = measured.energy ? 1 : 0;
  energy.value = energy.uncertainty = energy.systematic = unknown;
  if (measured.energy) {
    energy.value = measured.energy->value.value();
    energy.uncertainty = measured.energy->uncertainty.value();
    energy.systematic = measured.energy->systematic ? measured.energy->systematic->value() : unknown;
    energy.method = static_cast<zeus_method>(measured.energy->method);
  }
  const std::string& text = measured.energy ? measured.remark : measured.reason;
  std::strncpy(energy.reason, text.c_str(), sizeof(energy.reason) - 1);
  return energy;
}

zeus_throttle c_throttle(const zeus::ThrottleTime& times) {
  zeus_throttle throttle{};
  const auto put = [&throttle](const std::optional<zeus::Seconds>& time, double& seconds, zeus_throttle_reason reason) {
    seconds = time ? time->value() : unknown;
    throttle.reasons |= seconds > 0 ? static_cast<unsigned>(reason) : 0U;
  };
  put(times.power_cap, throttle.power_cap, ZEUS_THROTTLE_POWER_CAP);
  put(times.thermal, throttle.thermal, ZEUS_THROTTLE_THERMAL);
  put(times.sync_boost, throttle.sync_boost, ZEUS_THROTTLE_SYNC_BOOST);
  put(times.power_brake, throttle.power_brake, ZEUS_THROTTLE_POWER_BRAKE);
  return throttle;
}

template <typename Value>
const Value& find(const std::map<int, Value>& values, int index) {
  const auto found = values.find(index);
  if (found == values.end()) {
    throw zeus::Error{zeus::ErrorKind::not_found, fmt::format("device {} is not in this measurement", index),
                      "ask for a device that the monitor measures"};
  }
  return found->second;
}

// Writes as many as there is room for, and returns how many there are.
template <typename Timeline, typename Reading, typename Convert>
void give_timeline(const Timeline& timeline, Reading* readings, std::size_t* count, Convert convert) {
  const std::size_t room = std::min(*count, timeline.size());
  std::transform(timeline.begin(), timeline.begin() + static_cast<std::ptrdiff_t>(room), readings, convert);
  *count = timeline.size();
}

zeus::Seconds since_or_all(double since) {
  return zeus::Seconds{std::isfinite(since) ? since : 0.0};
}

}  // namespace

extern "C" {

const char* zeus_version(void) {
  return zeus::version().data();
}

const char* zeus_last_error(void) {
  return last_error;
}

void zeus_set_last_error(const char* text) {
  zeus::c_wall::give_text(text != nullptr ? text : "", last_error);
}

zeus_status zeus_monitor_open(const zeus_options* options, zeus_monitor** monitor) {
  return guarded([&] {
    expect(monitor != nullptr, "the pointer for the monitor is null");
    *monitor = nullptr;
    *monitor = new zeus_monitor{monitor_options_from(options)};
  });
}

void zeus_monitor_close(zeus_monitor* monitor) {
  (void)guarded([&] { delete monitor; });
}

zeus_status zeus_begin(zeus_monitor* monitor, const char* window) {
  return guarded([&] {
    expect(monitor != nullptr && window != nullptr, "the monitor or the window's name is missing");
    monitor->monitor.begin(window);
  });
}

zeus_status zeus_restart(zeus_monitor* monitor, const char* window) {
  return guarded([&] {
    expect(monitor != nullptr && window != nullptr, "the monitor or the window's name is missing");
    monitor->monitor.begin(window, true);
  });
}

zeus_status zeus_cancel(zeus_monitor* monitor, const char* window) {
  return guarded([&] {
    expect(monitor != nullptr && window != nullptr, "the monitor or the window's name is missing");
    monitor->monitor.cancel(window);
  });
}

zeus_status zeus_reset(zeus_monitor* monitor) {
  return guarded([&] {
    expect(monitor != nullptr, "the monitor is missing");
    monitor->monitor.reset();
  });
}

zeus_status zeus_end(zeus_monitor* monitor, const char* window, zeus_measurement** measurement) {
  return guarded([&] {
    expect(monitor != nullptr && window != nullptr && measurement != nullptr,
           "the monitor, the window's name or the pointer for the measurement is missing");
    *measurement = nullptr;
    *measurement = new zeus_measurement{monitor->monitor.end(window)};
  });
}

zeus_status zeus_so_far(zeus_monitor* monitor, const char* window, zeus_measurement** measurement) {
  return guarded([&] {
    expect(monitor != nullptr && window != nullptr && measurement != nullptr,
           "the monitor, the window's name or the pointer for the measurement is missing");
    *measurement = nullptr;
    *measurement = new zeus_measurement{monitor->monitor.so_far(window)};
  });
}

zeus_status zeus_settle(zeus_monitor* monitor, zeus_measurement* measurement, double patience) {
  return guarded([&] {
    expect(monitor != nullptr && measurement != nullptr, "the monitor or the measurement is missing");
    expect(std::isfinite(patience) && patience >= 0, "the patience is not a number of seconds");
    measurement->measurement = monitor->monitor.settle(measurement->measurement, zeus::Seconds{patience});
  });
}

void zeus_measurement_free(zeus_measurement* measurement) {
  (void)guarded([&] { delete measurement; });
}

zeus_status zeus_measurement_window(const zeus_measurement* measurement, zeus_window* window) {
  return guarded([&] {
    expect(measurement != nullptr, "the measurement is missing");
    const zeus::Measurement& m = measurement->measurement;
    zeus_window result{};
    result.start = m.start.value();
    result.end = m.end.value();
    result.settled = m.settled ? 1 : 0;
    result.gpu_count = static_cast<int>(m.gpu_energy.size());
    result.cpu_count = static_cast<int>(m.cpu_energy.size());
    give_back(result, window);
  });
}

zeus_status zeus_measurement_energy(const zeus_measurement* measurement, zeus_device device, int index,
                                    zeus_energy* energy) {
  return guarded([&] {
    expect(measurement != nullptr, "the measurement is missing");
    const zeus::Measurement& m = measurement->measurement;
    switch (zeus::c_wall::number_behind(device)) {
      case ZEUS_GPU:
        return give_back(c_energy(find(m.gpu_energy, index)), energy);
      case ZEUS_CPU:
        return give_back(c_energy(find(m.cpu_energy, index)), energy);
      case ZEUS_DRAM:
        return give_back(c_energy(find(m.dram_energy, index)), energy);
      case ZEUS_ALL_GPUS:
        return give_back(c_energy(m.total_gpu_energy()), energy);
      default:
        expect(false, "there is no such kind of device");
    }
  });
}

zeus_status zeus_measurement_throttle(const zeus_measurement* measurement, int gpu, zeus_throttle* throttle) {
  return guarded([&] {
    expect(measurement != nullptr, "the measurement is missing");
    give_back(c_throttle(find(measurement->measurement.gpu_throttle, gpu)), throttle);
  });
}

zeus_status zeus_listen(zeus_monitor* monitor) {
  return guarded([&] {
    expect(monitor != nullptr, "the monitor is missing");
    const std::lock_guard guard{monitor->mutex};
    monitor->listening = monitor->monitor.listen();
  });
}

zeus_status zeus_power_timeline(zeus_monitor* monitor, int gpu, double since, zeus_power* readings, size_t* count) {
  return guarded([&] {
    expect(monitor != nullptr && count != nullptr && (readings != nullptr || *count == 0),
           "the monitor or the pointer for the readings is missing");
    give_timeline(monitor->monitor.power_timeline(gpu, since_or_all(since)), readings, count,
                  [](const zeus::PowerSample& sample) {
                    return zeus_power{sample.at.value(), sample.power.value()};
                  });
  });
}

zeus_status zeus_temperature_timeline(zeus_monitor* monitor, int gpu, double since, zeus_temperature* readings,
                                      size_t* count) {
  return guarded([&] {
    expect(monitor != nullptr && count != nullptr && (readings != nullptr || *count == 0),
           "the monitor or the pointer for the readings is missing");
    give_timeline(monitor->monitor.temperature_timeline(gpu, since_or_all(since)), readings, count,
                  [](const zeus::TemperatureSample& sample) {
                    return zeus_temperature{sample.at.value(), sample.temperature.value()};
                  });
  });
}

zeus_status zeus_sampler_costs(zeus_monitor* monitor, zeus_sampler_cost* cost) {
  return guarded([&] {
    expect(monitor != nullptr, "the monitor is missing");
    const zeus::SamplerCost so_far = monitor->monitor.sampler_cost();
    zeus_sampler_cost result{};
    result.running = so_far.running.value();
    result.busy = so_far.busy.value();
    result.driver = so_far.driver.value();
    give_back(result, cost);
  });
}

}  // extern "C"
