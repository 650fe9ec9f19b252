#include "measure/windows.hpp"

#include <zeus/measure.hpp>

#include "records/energy.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <ostream>

namespace zeus {

std::ostream& operator<<(std::ostream& stream, const MeasuredEnergy& measured) {
  return measured.energy ? stream << *measured.energy : stream << "unknown (" << measured.reason << ')';
}

MeasuredEnergy Measurement::total_gpu_energy() const {
  MeasuredEnergy total;
  for (const auto& [gpu, measured] : gpu_energy) {
    if (!measured.energy) {
      return {.energy = {}, .reason = fmt::format("GPU {}: {}", gpu, measured.reason), .remark = {}};
    }
    total.energy = total.energy ? *total.energy + *measured.energy : *measured.energy;
  }
  if (!total.energy) {
    total.reason = "no GPU is measured";
  }
  return total;
}

Monitor measure::monitor_of(std::shared_ptr<SamplerSource> source, const MonitorOptions& options) {
  return Monitor{std::make_shared<Windows>(std::move(source), options)};
}

Monitor::Monitor(std::shared_ptr<measure::Windows> windows) : windows_{std::move(windows)} {
}
Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;
Monitor::~Monitor() = default;

measure::Windows& Monitor::open() const {
  if (!windows_) {
    throw Error{ErrorKind::invalid_argument, "this monitor was moved from", "use the one that it was moved to"};
  }
  return *windows_;
}

void Monitor::begin(std::string_view name, bool restart) {
  open().begin(name, restart);
}

Measurement Monitor::end(std::string_view name) {
  Measurement measurement;
  open().end(name, measurement);
  return measurement;
}

void Monitor::end(std::string_view name, Measurement& into) {
  open().end(name, into);
}

Measurement Monitor::so_far(std::string_view name) const {
  return open().so_far(name);
}

Measurement Monitor::settle(const Measurement& measurement, Seconds patience) {
  return open().settle(measurement, patience);
}

void Monitor::cancel(std::string_view name) {
  open().cancel(name);
}

void Monitor::reset() {
  open().reset();
}

Monitor::Window Monitor::window(std::string name) {
  (void)open();
  return Window{windows_, std::move(name)};
}

Monitor::Window::Window(std::shared_ptr<measure::Windows> windows, std::string name)
    : windows_{std::move(windows)}, name_{std::move(name)} {
  windows_->begin(name_, false);
}

Monitor::Window::~Window() {
  if (open_) {
    try {
      (void)end();
    } catch (const std::exception&) {
      // Another thread has ended it, or the synchronization failed. A destructor cannot report that.
    }
  }
}

Measurement Monitor::Window::end() {
  open_ = false;
  Measurement measurement;
  windows_->end(name_, measurement);
  return measurement;
}

std::vector<int> Monitor::gpus() const {
  return open().gpus();
}

std::vector<int> Monitor::cpus() const {
  return open().cpus();
}

Monitor::Listening::Listening(std::unique_ptr<measure::SamplerUse> use) : use_{std::move(use)} {
}
Monitor::Listening::Listening(Listening&&) noexcept = default;
Monitor::Listening& Monitor::Listening::operator=(Listening&&) noexcept = default;
Monitor::Listening::~Listening() = default;

Monitor::Listening Monitor::listen() {
  return Listening{open().listen()};
}

std::vector<PowerSample> Monitor::power_timeline(int gpu, Seconds since) const {
  open().expect_gpu(gpu);
  std::vector<PowerSample> timeline;
  for (const auto& reading : open().sampler()->gpu(gpu).powers(Instant{} + since)) {
    timeline.push_back({reading.at - Instant{}, reading.value});
  }
  return timeline;
}

std::vector<TemperatureSample> Monitor::temperature_timeline(int gpu, Seconds since) const {
  open().expect_gpu(gpu);
  std::vector<TemperatureSample> timeline;
  for (const auto& reading : open().sampler()->gpu(gpu).temperatures(Instant{} + since)) {
    timeline.push_back({reading.at - Instant{}, reading.value});
  }
  return timeline;
}

SamplerCost Monitor::sampler_cost() const {
  return open().sampler()->cost();
}

Seconds Monitor::stood_still() const {
  return open().sampler()->stood_still();
}

}  // namespace zeus
