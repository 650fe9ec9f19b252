// The GPUs and CPU packages that this program sees, their readings, and the lease under which a GPU is set.
//
//   for (const zeus::Gpu& gpu : zeus::gpus()) {
//     if (const auto sample = gpu.power(zeus::PowerKind::instant)) {
//       std::cout << gpu.name() << ": " << sample->power << '\n';
//     }
//   }
//   zeus::GpuLease lease = zeus::gpus().at(0).lease();
//   lease.set_power_limit(zeus::Watts{200});  // put back when the lease ends, however it ends
//
// Threads: any thread may call any member. A reading never throws because of a device; it returns the reason why there
// is no value. Setting throws an Error. Fork: a child reads through devices that are opened again for it. A lease
// belongs to the process that took it, and is dead in a forked child; the child may take one as another process.
// Handles are numbers: copy them freely; nothing needs closing.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/export.hpp>
#include <zeus/measure.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus {

namespace control {
class Lease;
}  // namespace control

class GpuLease;

class ZEUS_API Gpu {
 public:
  explicit Gpu(int index) : index_{index} {}

  // The number by which this program knows the GPU, after the visibility variables: N of "cuda:N".
  [[nodiscard]] int index() const { return index_; }
  // The position in the driver's own order, which nvidia-smi uses too.
  [[nodiscard]] int driver_index() const;
  [[nodiscard]] GpuVendor vendor() const;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string uuid() const;
  [[nodiscard]] std::string pci_address() const;  // "0000:3b:00.0"
  [[nodiscard]] std::string driver() const;       // its version

  // The device's own counter, raw: it starts at any value, and moves every 20 to 100 ms.
  [[nodiscard]] Reading<Joules> energy() const;
  [[nodiscard]] Reading<PowerSample> power(PowerKind kind, PowerScope scope = PowerScope::gpu) const;
  [[nodiscard]] Reading<TemperatureSample> temperature() const;
  [[nodiscard]] PowerLimits power_limits() const;
  // The ranges in which the policy of a node's daemon lets this user set the limit. Empty if nothing but the GPU's own
  // range bounds it, or if this user may not set it.
  [[nodiscard]] std::vector<PowerLimitRange> allowed_power_limits() const;
  // Highest first.
  [[nodiscard]] Reading<std::vector<Megahertz>> supported_memory_clocks() const;
  [[nodiscard]] Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz memory) const;
  [[nodiscard]] Reading<Megahertz> clock(ClockDomain domain) const;
  [[nodiscard]] Reading<bool> persistence_mode() const;
  [[nodiscard]] Reading<ThrottleReasons> throttle_reasons() const;

  // The right to set this GPU, until the lease is released or has not been renewed for `term`. Errors: conflict, naming
  // the holder, if another process has it; unavailable if nothing can be set, or no guardian could put it back. A
  // process never conflicts with itself. If an ancestor of this process has the lease, this process borrows it, one
  // process at a time: the borrower's end restores what the ancestor has set, and the ancestor's death ends both.
  [[nodiscard]] GpuLease lease(Seconds term = Seconds{60}) const;
  // Whether this process has a lease of it now.
  [[nodiscard]] bool is_leased() const;

 private:
  int index_;
};

// Sets a GPU. The settings found are recorded durably before they are changed. They are put back when the lease ends:
// when it is released or destroyed, when the process dies (its guardian does it), or when the term is over. Each member
// except release() throws an Error if the lease has expired or the device refuses, and otherwise renews the lease.
//
// All leases of a GPU in one process are shares of one lease, including those of optimizers (zeus/train.hpp) and of
// clock followers (zeus/pipeline.hpp). The latest setting of the power limit, of each clock and of persistence mode
// applies, whichever share set it. When that share ends, the latest setting of the remaining shares applies; when the
// last one ends, the settings found first. The longest term counts for all shares, and each share renews it.
class ZEUS_API GpuLease {
 public:
  GpuLease(GpuLease&&) noexcept;
  GpuLease& operator=(GpuLease&&) noexcept;
  GpuLease(const GpuLease&) = delete;
  GpuLease& operator=(const GpuLease&) = delete;
  ~GpuLease();

  // Returns the enforced limit, which is lower if something else limits as well.
  Reading<Watts> set_power_limit(Watts limit);
  void lock_clocks(ClockDomain domain, ClockRange range);
  void unlock_clocks(ClockDomain domain);
  Reading<bool> set_persistence_mode(bool enabled);

  // Why the power limit or the clocks are no longer as they were when this lease last set or restored something:
  // another lease of this process, or a borrowing process, has changed them, or the lease has ended. Empty otherwise.
  // Check it before you trust what was measured meanwhile.
  [[nodiscard]] std::string overruled() const;

  void restore();  // withdraws what this lease has set, and keeps the lease
  void renew();
  void release();  // withdraws what this lease has set, and ends it; does nothing the second time

 private:
  friend class Gpu;
  explicit GpuLease(std::unique_ptr<control::Lease> lease);

  std::unique_ptr<control::Lease> lease_;
};

class ZEUS_API CpuPackage {
 public:
  explicit CpuPackage(int index) : index_{index} {}

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] std::string name() const;  // "package-0"
  // Energy since the first call in this process, with every wrap of the counter undone. The first call starts the
  // sampler that watches for wraps, which then runs as long as the process. `memory` is counted beside the package, if
  // the machine counts it.
  [[nodiscard]] Reading<Joules> energy() const;
  [[nodiscard]] Reading<Joules> memory_energy() const;
  [[nodiscard]] bool counts_memory() const;

 private:
  int index_;
};

// The GPUs that the visibility variables leave to this program, in their order; found once per process.
ZEUS_API std::vector<Gpu> gpus();
ZEUS_API std::vector<CpuPackage> cpus();

// What is present but does not work as it should, and why no GPU or no CPU package was found, if that is so.
ZEUS_API std::vector<DeviceProblem> device_problems();

}  // namespace zeus
