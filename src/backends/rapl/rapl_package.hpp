// A CPU package whose counters are files of the kernel's powercap tree. Threads and cost as in device/cpu_package.hpp.
// Each reading opens its file again. That adds less than a microsecond to the counter itself, needs no care after a
// fork, and sees the permissions and zones as they are now.
#pragma once

#include "backends/rapl/zones.hpp"
#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "device/cpu_package.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace zeus::backends::rapl {

class RaplPackage final : public device::CpuPackage {
 public:
  // `clock` must outlive the package.
  RaplPackage(const FileTree& tree, const Clock& clock, int index, const PackageZones& zones);

  [[nodiscard]] const device::CpuIdentity& identity() const override { return identity_; }
  Reading<device::EnergyCounter> energy_counter(device::CpuDomain domain) const override;
  Reading<device::Stamped<Joules>> energy(device::CpuDomain domain) const override;
  device::Outcome reopen() override;
  [[nodiscard]] std::uint64_t generation() const override { return generation_; }

 private:
  struct Counter {
    std::string file;
    std::optional<std::uint64_t> range_microjoules;
  };

  static Counter counter_of(const FileTree& tree, const Zone& zone);
  [[nodiscard]] const Counter* counter(device::CpuDomain domain) const;

  const Clock& clock_;
  device::CpuIdentity identity_;
  Counter package_;
  std::optional<Counter> dram_;
  std::atomic<std::uint64_t> generation_{0};
};

}  // namespace zeus::backends::rapl
