// A CPU package (socket, or one die of it) and the memory behind it, with the energy counters that they have. Threads,
// cost, failures, fork and ownership as for Gpu (device/gpu.hpp): readings from any thread; none allocates, or throws
// because of the hardware.
#pragma once

#include "device/energy_counter.hpp"
#include "device/outcome.hpp"
#include "device/stamped.hpp"

#include <zeus/reading.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace zeus::device {

enum class CpuDomain {
  package,  // cores, caches and everything else on the package
  dram,     // the memory behind it, which the package does not include
};

std::string_view to_string(CpuDomain domain);

struct CpuIdentity {
  int index = 0;     // 0, 1, ... without gaps, ordered by the kernel's package and die numbers
  std::string name;  // "package-0", "package-1-die-0"
  int zone = 0;      // the kernel's zone (intel-rapl:N), by which other programs number packages

  friend bool operator==(const CpuIdentity&, const CpuIdentity&) = default;
};

class CpuPackage {
 public:
  CpuPackage() = default;
  CpuPackage(const CpuPackage&) = delete;
  CpuPackage& operator=(const CpuPackage&) = delete;
  virtual ~CpuPackage() = default;

  [[nodiscard]] virtual const CpuIdentity& identity() const = 0;

  // How the domain's counter counts; a failure if there is none. These counters wrap within minutes.
  [[nodiscard]] virtual Reading<EnergyCounter> energy_counter(CpuDomain domain) const = 0;

  // The cumulative counter, raw, between zero and the value at which it wraps.
  [[nodiscard]] virtual Reading<Stamped<Joules>> energy(CpuDomain domain) const = 0;

  // Like Gpu::reopen() and Gpu::generation().
  [[nodiscard]] virtual Outcome reopen() = 0;
  [[nodiscard]] virtual std::uint64_t generation() const = 0;
};

}  // namespace zeus::device
