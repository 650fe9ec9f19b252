#include "backends/rapl/rapl_package.hpp"

#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

namespace zeus::backends::rapl {

using device::CpuDomain;

namespace {

Failure failure_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return {Reason::permission, "the kernel shows this counter to root only"};
    case ENOENT:
    case ENODEV:
    case ENOTDIR:
      return {Reason::lost, "the zone is gone"};
    case ETIMEDOUT:
    case EAGAIN:
      return {Reason::timeout, {}};
    default:
      return {Reason::unknown, "the kernel could not read the counter"};
  }
}

// The number in a counter's file. Uses the stack alone: this is a hot path.
Reading<std::uint64_t> read_number(const std::string& path) {
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) {
    return failure_of(errno);
  }
  std::array<char, 32> text{};
  ssize_t length = -1;
  do {
    length = ::read(file.get(), text.data(), text.size());
  } while (length < 0 && errno == EINTR);
  if (length < 0) {
    return failure_of(errno);
  }
  std::uint64_t number = 0;
  const char* const end = text.data() + length;
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || (rest != end && *rest != '\n')) {
    return Failure{Reason::unreliable, "the counter's file does not contain a number"};
  }
  return number;
}

Joules from_microjoules(std::uint64_t microjoules) {
  return Joules{static_cast<double>(microjoules) * 1e-6};
}

constexpr Failure no_dram{Reason::unsupported, "this package has no counter for its memory"};
constexpr Failure no_range{Reason::unsupported, "the zone does not report where its counter wraps"};

}  // namespace

RaplPackage::RaplPackage(const FileTree& tree, const Clock& clock, int index, const PackageZones& zones)
    : clock_{clock}, identity_{index, zones.name, zones.zone}, package_{counter_of(tree, zones.energy)} {
  if (zones.dram) {
    dram_ = counter_of(tree, *zones.dram);
  }
}

RaplPackage::Counter RaplPackage::counter_of(const FileTree& tree, const Zone& zone) {
  return {tree.resolve(zone.path + "/energy_uj").string(), zone.range_microjoules};
}

const RaplPackage::Counter* RaplPackage::counter(CpuDomain domain) const {
  if (domain == CpuDomain::package) {
    return &package_;
  }
  return dram_ ? &*dram_ : nullptr;
}

Reading<device::EnergyCounter> RaplPackage::energy_counter(CpuDomain domain) const {
  const Counter* const chosen = counter(domain);
  if (chosen == nullptr) {
    return no_dram;
  }
  if (!chosen->range_microjoules) {
    return no_range;
  }
  return device::EnergyCounter{from_microjoules(1), from_microjoules(*chosen->range_microjoules),
                               domain == CpuDomain::package ? PowerScope::package : PowerScope::memory};
}

Reading<device::Stamped<Joules>> RaplPackage::energy(CpuDomain domain) const {
  const Counter* const chosen = counter(domain);
  if (chosen == nullptr) {
    return no_dram;
  }
  if (!chosen->range_microjoules) {
    return no_range;
  }
  const Instant before = clock_.now();
  const Reading<std::uint64_t> microjoules = read_number(chosen->file);
  const Instant after = clock_.now();
  if (!microjoules) {
    return microjoules.failure();
  }
  if (*microjoules > *chosen->range_microjoules) {
    return Failure{Reason::unreliable, "the counter is beyond the value at which it should have wrapped"};
  }
  const Seconds latency = after - before;
  return device::Stamped<Joules>{from_microjoules(*microjoules), before + latency / 2, latency};
}

device::Outcome RaplPackage::reopen() {
  if (const Reading<device::Stamped<Joules>> reading = energy(CpuDomain::package); !reading) {
    return reading.failure();
  }
  ++generation_;
  return device::done;
}

}  // namespace zeus::backends::rapl
