#include <zeus/device.hpp>

#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "library/machine.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace zeus {

namespace {

NoAnswer to_no_answer(device::Reason reason) {
  switch (reason) {
    case device::Reason::unsupported:
      return NoAnswer::unsupported;
    case device::Reason::permission:
      return NoAnswer::permission;
    case device::Reason::lost:
      return NoAnswer::lost;
    case device::Reason::timeout:
      return NoAnswer::timeout;
    case device::Reason::unreliable:
      return NoAnswer::unreliable;
    case device::Reason::out_of_range:
      return NoAnswer::out_of_range;
    case device::Reason::unknown:
      break;
  }
  return NoAnswer::unknown;
}

// The reading as an answer, its value turned by `convert`.
template <typename T, typename Convert>
auto answer_of(const device::Reading<T>& reading, const Convert& convert) {
  using Value = decltype(convert(*reading));
  return reading ? Answer<Value>{.value = convert(*reading), .why = {}, .reason = {}}
                 : Answer<Value>{.value = {},
                                 .why = to_no_answer(reading.failure().reason),
                                 .reason = device::to_text(reading.failure())};
}

template <typename T>
Answer<T> answer_of(const device::Reading<T>& reading) {
  return answer_of(reading, [](const T& value) { return value; });
}

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

// Through the sampler's source, which opens the devices anew in a forked child.
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

Answer<Joules> cpu_energy(int index, device::CpuDomain domain) {
  const std::shared_ptr<measure::Sampler> sampler = opened()->sampler();
  (void)checked("CPU", index, static_cast<std::size_t>(sampler->cpu_count()));
  static std::atomic<std::uint64_t> listening_to{0};                           // never stops once it has begun
  if (const auto sampler_id = reinterpret_cast<std::uint64_t>(sampler.get());  // NOLINT: an identity, not an address
      listening_to.exchange(sampler_id) != sampler_id) {
    measure::Sampler::Watched packages;
    for (int package = 0; package < static_cast<int>(sampler->cpu_count()); ++package) {
      packages.cpus.push_back(package);
    }
    sampler->use(packages);
  }
  const measure::CpuMeter::Mark mark = sampler->cpu(index, domain).mark();
  return {.value = mark.total, .why = NoAnswer::unknown, .reason = mark.why_not};
}

device::PowerKind to_kind(PowerMeaning meaning) {
  switch (meaning) {
    case PowerMeaning::instant:
      return device::PowerKind::instant;
    case PowerMeaning::average:
      return device::PowerKind::average;
    case PowerMeaning::plain:
      break;
  }
  return device::PowerKind::plain;
}

device::PowerScope to_scope(PowerPart part) {
  switch (part) {
    case PowerPart::gpu:
      return device::PowerScope::gpu;
    case PowerPart::module:
      return device::PowerScope::module;
    case PowerPart::memory:
      break;
  }
  return device::PowerScope::memory;
}

device::ClockDomain to_domain(ClockDomain domain) {
  return domain == ClockDomain::graphics ? device::ClockDomain::graphics : device::ClockDomain::memory;
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
  return gpu_of(index_).identity().vendor == device::Vendor::nvidia ? GpuVendor::nvidia : GpuVendor::amd;
}

std::string Gpu::name() const {
  return gpu_of(index_).identity().name;
}

std::string Gpu::uuid() const {
  return gpu_of(index_).identity().uuid;
}

std::string Gpu::pci_address() const {
  return device::to_string(gpu_of(index_).identity().pci);
}

std::string Gpu::driver() const {
  return gpu_of(index_).identity().driver;
}

Answer<Joules> Gpu::energy() const {
  return answer_of(gpu_of(index_).energy(), [](const auto& stamped) { return stamped.value; });
}

Answer<PowerSample> Gpu::power(PowerMeaning meaning, PowerPart part) const {
  return answer_of(gpu_of(index_).power(to_kind(meaning), to_scope(part)), [](const auto& stamped) {
    return PowerSample{.at = stamped.at - Instant{}, .power = stamped.value};
  });
}

Answer<TemperatureSample> Gpu::temperature() const {
  const Seconds now = library::this_machine().clock.now() - Instant{};
  return answer_of(gpu_of(index_).temperature(),
                   [now](Celsius temperature) { return TemperatureSample{.at = now, .temperature = temperature}; });
}

GpuPowerLimits Gpu::power_limits() const {
  const device::PowerLimits limits = gpu_of(index_).power_limits();
  return {.current = answer_of(limits.current),
          .standard = answer_of(limits.standard),
          .minimum = answer_of(limits.minimum),
          .maximum = answer_of(limits.maximum),
          .enforced = answer_of(limits.enforced)};
}

Answer<std::vector<Megahertz>> Gpu::supported_memory_clocks() const {
  return answer_of(gpu_of(index_).supported_memory_clocks());
}

Answer<std::vector<Megahertz>> Gpu::supported_graphics_clocks(Megahertz memory) const {
  return answer_of(gpu_of(index_).supported_graphics_clocks(memory));
}

Answer<Megahertz> Gpu::clock(ClockDomain domain) const {
  const device::Clocks clocks = gpu_of(index_).clocks();
  return answer_of(domain == ClockDomain::graphics ? clocks.graphics : clocks.memory);
}

Answer<bool> Gpu::persistence_mode() const {
  return answer_of(gpu_of(index_).persistence_mode());
}

Answer<std::string> Gpu::throttle_reasons() const {
  return answer_of(gpu_of(index_).throttle_reasons(),
                   [](device::ThrottleReasons reasons) { return device::to_text(reasons); });
}

GpuLease Gpu::lease(Seconds term) const {
  return GpuLease{std::make_unique<control::Lease>(library::lease_book().acquire(uuid(), term))};
}

bool Gpu::is_leased() const {
  try {
    return library::lease_book().has_one(uuid());
  } catch (const Error&) {
    return false;  // where no lease can be taken there is none
  }
}

GpuLease::GpuLease(std::unique_ptr<control::Lease> lease) : lease_{std::move(lease)} {
}
GpuLease::GpuLease(GpuLease&&) noexcept = default;
GpuLease& GpuLease::operator=(GpuLease&&) noexcept = default;
GpuLease::~GpuLease() = default;

Answer<Watts> GpuLease::set_power_limit(Watts limit) {
  return answer_of(held(lease_).set_power_limit(limit).enforced);
}

void GpuLease::lock_clocks(ClockDomain domain, Megahertz minimum, Megahertz maximum) {
  (void)held(lease_).lock_clocks(to_domain(domain), {.minimum = minimum, .maximum = maximum});
}

void GpuLease::unlock_clocks(ClockDomain domain) {
  held(lease_).unlock_clocks(to_domain(domain));
}

Answer<bool> GpuLease::set_persistence_mode(bool enabled) {
  return answer_of(held(lease_).set_persistence_mode(enabled));
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

Answer<Joules> CpuPackage::energy() const {
  return cpu_energy(index_, device::CpuDomain::package);
}

Answer<Joules> CpuPackage::memory_energy() const {
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
  std::vector<DeviceProblem> problems;
  const auto add = [&problems](const device::Problem& problem) {
    problems.push_back({.device = problem.device, .what = problem.what, .fix = problem.fix});
  };
  for (const auto& problem : machine.inventory.problems) {
    add(problem);
  }
  for (const auto& backend : machine.inventory.backends) {
    const bool none =
        backend.kind == device::DeviceKind::gpu ? machine.inventory.gpus.empty() : machine.inventory.cpus.empty();
    if (none && backend.absence) {
      add(*backend.absence);
    }
  }
  return problems;
}

}  // namespace zeus
