#include "measure/windows.hpp"

#include <zeus/measure.hpp>

#include "records/energy.hpp"

#include <fmt/format.h>

namespace zeus {

namespace {

Seconds on_clock(Instant at) {
  return at - Instant{};
}

}  // namespace

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

Monitor::Monitor(std::unique_ptr<measure::Windows> windows) : windows_{std::move(windows)} {
}
Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;
Monitor::~Monitor() = default;

void Monitor::begin(std::string_view name, bool restart) {
  windows_->begin(name, restart);
}

Measurement Monitor::end(std::string_view name) {
  return windows_->end(name);
}

Measurement Monitor::settle(const Measurement& measurement, Seconds patience) {
  return windows_->settle(measurement, patience);
}

void Monitor::cancel(std::string_view name) {
  windows_->cancel(name);
}

void Monitor::reset() {
  windows_->reset();
}

Monitor::Window::Window(Monitor& monitor, std::string name) : monitor_{&monitor}, name_{std::move(name)} {
  monitor_->begin(name_);
}

Monitor::Window::~Window() {
  if (open_) {
    try {
      (void)end();
    } catch (const std::exception&) {
      // Somebody else has ended it, or the synchronization failed: there is nobody to tell.
    }
  }
}

Measurement Monitor::Window::end() {
  open_ = false;
  return monitor_->end(name_);
}

std::vector<int> Monitor::gpus() const {
  return windows_->gpus();
}

std::vector<int> Monitor::cpus() const {
  return windows_->cpus();
}

std::shared_ptr<void> Monitor::listen() {
  return windows_->listen();
}

std::vector<PowerSample> Monitor::power_timeline(int gpu, Seconds since) const {
  windows_->expect_gpu(gpu);
  std::vector<PowerSample> timeline;
  for (const auto& reading : windows_->sampler()->gpu(gpu).powers(Instant{} + since)) {
    timeline.push_back({on_clock(reading.at), reading.value});
  }
  return timeline;
}

std::vector<TemperatureSample> Monitor::temperature_timeline(int gpu, Seconds since) const {
  windows_->expect_gpu(gpu);
  std::vector<TemperatureSample> timeline;
  for (const auto& reading : windows_->sampler()->gpu(gpu).temperatures(Instant{} + since)) {
    timeline.push_back({on_clock(reading.at), reading.value});
  }
  return timeline;
}

SamplerCost Monitor::sampler_cost() const {
  return windows_->sampler()->cost();
}

}  // namespace zeus
