#include <zeus/device.hpp>

#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "library/machine.hpp"
#include "measure/fork_guard.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace zeus {

namespace {

[[noreturn]] void no_such(std::string_view kind, int index, std::size_t count) {
  throw Error{ErrorKind::not_found, fmt::format("there is no {} {}", kind, index),
              count == 0 ? fmt::format("no {} can be seen here; `zeus doctor` says why", kind)
                         : fmt::format("choose from 0 to {}", count - 1)};
}

std::size_t checked(std::string_view kind, int index, std::size_t count) {
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    no_such(kind, index, count);
  }
  return static_cast<std::size_t>(index);
}

// From the sampler's source, which reopens the devices in a forked child.
const std::shared_ptr<measure::SamplerSource>& opened() {
  const auto& source = library::this_machine().sampler;
  (void)source->sampler();
  return source;
}

device::Gpu& gpu_of(int index) {
  (void)opened();
  const auto& gpus = library::this_machine().gpus;
  return *gpus[checked("GPU", index, gpus.size())].gpu;
}

// From the first reading in this process on, the sampler watches all packages, so that no counter wraps unseen. Two
// threads that read first at once both ask for that, which does no harm.
void watch_packages(measure::Sampler& sampler) {
  static std::atomic<std::uint64_t> watched_after_forks{std::numeric_limits<std::uint64_t>::max()};
  if (watched_after_forks == measure::fork_count()) {
    return;
  }
  measure::Sampler::Watched packages;
  for (int package = 0; package < static_cast<int>(sampler.cpu_count()); ++package) {
    packages.cpus.push_back(package);
  }
  sampler.use(packages);
  watched_after_forks = measure::fork_count();
}

Reading<Joules> cpu_energy(int index, device::CpuDomain domain) {
  const std::shared_ptr<measure::Sampler> sampler = opened()->sampler();
  (void)checked("CPU", index, static_cast<std::size_t>(sampler->cpu_count()));
  watch_packages(*sampler);
  return sampler->cpu(index, domain).mark().total;
}

control::Lease& held(const std::unique_ptr<control::Lease>& lease) {
  if (!lease) {
    throw Error{ErrorKind::invalid_argument, "this lease has been released", "take another one"};
  }
  return *lease;
}

}  // namespace

int Gpu::driver_index() const {
  return gpu_of(index_).identity().index;
}

GpuVendor Gpu::vendor() const {
  return gpu_of(index_).identity().vendor;
}

std::string Gpu::name() const {
  return gpu_of(index_).identity().name;
}

std::string Gpu::uuid() const {
  return gpu_of(index_).identity().uuid;
}

std::string Gpu::pci_address() const {
  return to_string(gpu_of(index_).identity().pci);
}

std::string Gpu::driver() const {
  return gpu_of(index_).identity().driver;
}

Reading<Joules> Gpu::energy() const {
  return gpu_of(index_).energy().transform([](const device::Stamped<Joules>& stamped) { return stamped.value; });
}

Reading<PowerSample> Gpu::power(PowerKind kind, PowerScope scope) const {
  return gpu_of(index_).power(kind, scope).transform([](const device::Stamped<Watts>& stamped) {
    return PowerSample{.at = stamped.at - Instant{}, .power = stamped.value};
  });
}

Reading<TemperatureSample> Gpu::temperature() const {
  const Seconds now = library::this_machine().clock.now() - Instant{};
  return gpu_of(index_).temperature().transform(
      [now](Celsius temperature) { return TemperatureSample{.at = now, .temperature = temperature}; });
}

PowerLimits Gpu::power_limits() const {
  return gpu_of(index_).power_limits();
}

std::vector<PowerLimitRange> Gpu::allowed_power_limits() const {
  std::vector<PowerLimitRange> allowed;
  if (const auto& lessor = library::this_machine().lessor) {
    for (const device::WattRange& range : lessor->allowed_power_limits(uuid())) {
      allowed.push_back({.minimum = range.minimum, .maximum = range.maximum});
    }
  }
  return allowed;
}

Reading<std::vector<Megahertz>> Gpu::supported_memory_clocks() const {
  return gpu_of(index_).supported_memory_clocks();
}

Reading<std::vector<Megahertz>> Gpu::supported_graphics_clocks(Megahertz memory) const {
  return gpu_of(index_).supported_graphics_clocks(memory);
}

Reading<Megahertz> Gpu::clock(ClockDomain domain) const {
  const device::Clocks clocks = gpu_of(index_).clocks();
  switch (domain) {
    case ClockDomain::graphics:
      return clocks.graphics;
    case ClockDomain::sm:
      return clocks.sm;
    case ClockDomain::memory:
      break;
  }
  return clocks.memory;
}

Reading<bool> Gpu::persistence_mode() const {
  return gpu_of(index_).persistence_mode();
}

Reading<ThrottleReasons> Gpu::throttle_reasons() const {
  return gpu_of(index_).throttle_reasons();
}

GpuLease Gpu::lease(Seconds term) const {
  return GpuLease{std::make_unique<control::Lease>(library::lease_book().acquire(uuid(), term))};
}

bool Gpu::is_leased() const {
  try {
    return library::lease_book().has_one(uuid());
  } catch (const Error&) {
    return false;  // if no lease can be taken, there is none
  }
}

GpuLease::GpuLease(std::unique_ptr<control::Lease> lease) : lease_{std::move(lease)} {
}
GpuLease::GpuLease(GpuLease&&) noexcept = default;
GpuLease& GpuLease::operator=(GpuLease&&) noexcept = default;
GpuLease::~GpuLease() = default;

Reading<Watts> GpuLease::set_power_limit(Watts limit) {
  return held(lease_).set_power_limit(limit).enforced;
}

void GpuLease::lock_clocks(ClockDomain domain, ClockRange range) {
  (void)held(lease_).lock_clocks(domain, range);
}

void GpuLease::unlock_clocks(ClockDomain domain) {
  held(lease_).unlock_clocks(domain);
}

Reading<bool> GpuLease::set_persistence_mode(bool enabled) {
  return held(lease_).set_persistence_mode(enabled);
}

std::string GpuLease::overruled() const {
  return held(lease_).overruled();
}

void GpuLease::restore() {
  held(lease_).restore();
}

void GpuLease::renew() {
  held(lease_).renew();
}

void GpuLease::release() {
  if (const auto lease = std::exchange(lease_, nullptr)) {
    lease->release();
  }
}

std::string CpuPackage::name() const {
  const auto& packages = library::this_machine().inventory.cpus;
  return packages[checked("CPU", index_, packages.size())]->identity().name;
}

Reading<Joules> CpuPackage::energy() const {
  return cpu_energy(index_, device::CpuDomain::package);
}

Reading<Joules> CpuPackage::memory_energy() const {
  return cpu_energy(index_, device::CpuDomain::dram);
}

bool CpuPackage::counts_memory() const {
  const std::shared_ptr<measure::Sampler> sampler = opened()->sampler();
  (void)checked("CPU", index_, static_cast<std::size_t>(sampler->cpu_count()));
  return sampler->cpu(index_, device::CpuDomain::dram).present();
}

std::vector<Gpu> gpus() {
  std::vector<Gpu> all;
  for (std::size_t i = 0; i < library::this_machine().gpus.size(); ++i) {
    all.emplace_back(static_cast<int>(i));
  }
  return all;
}

std::vector<CpuPackage> cpus() {
  std::vector<CpuPackage> all;
  for (std::size_t i = 0; i < library::this_machine().inventory.cpus.size(); ++i) {
    all.emplace_back(static_cast<int>(i));
  }
  return all;
}

std::vector<DeviceProblem> device_problems() {
  const library::Machine& machine = library::this_machine();
  std::vector<DeviceProblem> problems = machine.inventory.problems;
  for (const auto& backend : machine.inventory.backends) {
    const bool none =
        backend.kind == device::DeviceKind::gpu ? machine.inventory.gpus.empty() : machine.inventory.cpus.empty();
    if (none && backend.absence) {
      problems.push_back(*backend.absence);
    }
  }
  return problems;
}

}  // namespace zeus
