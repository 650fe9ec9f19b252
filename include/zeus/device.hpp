// The GPUs and CPU packages that this program sees, what each can tell, and the lease under which a GPU is set.
//
//   for (const zeus::Gpu& gpu : zeus::gpus()) {
//     if (const auto sample = gpu.power(zeus::PowerKind::instant)) {
//       std::cout << gpu.name() << ": " << sample->power << '\n';
//     }
//   }
//   zeus::GpuLease lease = zeus::gpus().at(0).lease();
//   lease.set_power_limit(zeus::Watts{200});  // put back when the lease ends, however it ends
//
// Threads: every member may be called from any thread. A reading never throws because of what a device does: it says
// why it has no value. Setting throws an Error. Fork: a child reads through devices opened anew; a lease belongs to the
// process that took it, and is dead in a forked child, which is another process when it asks for one. Handles are
// numbers: copy them freely; nothing needs closing.
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

  // The number that this program knows the GPU by, after the visibility variables: N of "cuda:N".
  [[nodiscard]] int index() const { return index_; }
  // The position in the driver's own order, which that of nvidia-smi is.
  [[nodiscard]] int driver_index() const;
  [[nodiscard]] GpuVendor vendor() const;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string uuid() const;
  [[nodiscard]] std::string pci_address() const;  // "0000:3b:00.0"
  [[nodiscard]] std::string driver() const;       // its version

  // The device's own counter, raw: it starts anywhere, and moves every 20 to 100 ms.
  [[nodiscard]] Reading<Joules> energy() const;
  [[nodiscard]] Reading<PowerSample> power(PowerKind kind, PowerScope scope = PowerScope::gpu) const;
  [[nodiscard]] Reading<TemperatureSample> temperature() const;
  [[nodiscard]] PowerLimits power_limits() const;
  // Highest first.
  [[nodiscard]] Reading<std::vector<Megahertz>> supported_memory_clocks() const;
  [[nodiscard]] Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz memory) const;
  [[nodiscard]] Reading<Megahertz> clock(ClockDomain domain) const;
  [[nodiscard]] Reading<bool> persistence_mode() const;
  [[nodiscard]] Reading<ThrottleReasons> throttle_reasons() const;

  // The right to set this GPU until it is released, or until nobody has renewed it for `term`. Errors: conflict, naming
  // the holder, when another process has it; unavailable when nothing can be set, or nobody could put it back. This
  // process never stands in its own way; and where a process has it that this one descends from, it is borrowed, by one
  // process at a time: its end brings back what that process has set, and that process's death is the end of both.
  [[nodiscard]] GpuLease lease(Seconds term = Seconds{60}) const;
  // Whether this process has a lease of it now.
  [[nodiscard]] bool is_leased() const;

 private:
  int index_;
};

// Setting a GPU. What is found is written down durably before it is changed, and put back when the lease ends: when it
// is released or destroyed, when the process dies (its guardian does it), or when the term is over. Each member but
// release() is an Error when the lease has run out or the device refuses, and renews the lease otherwise.
//
// All leases of a GPU that one process has are shares of one, optimizers (zeus/train.hpp) and followers of clocks
// (zeus/pipeline.hpp) included. Of the power limit, of each clock and of persistence mode the latest setting holds,
// whichever lease it is of; when that one ends, the latest of those that are left; when the last one ends, what was
// found first. The longest term counts for all, and each renews it.
class ZEUS_API GpuLease {
 public:
  GpuLease(GpuLease&&) noexcept;
  GpuLease& operator=(GpuLease&&) noexcept;
  GpuLease(const GpuLease&) = delete;
  GpuLease& operator=(const GpuLease&) = delete;
  ~GpuLease();

  // Returns what is enforced, which is lower where something else limits as well.
  Reading<Watts> set_power_limit(Watts limit);
  void lock_clocks(ClockDomain domain, ClockRange range);
  void unlock_clocks(ClockDomain domain);
  Reading<bool> set_persistence_mode(bool enabled);

  // Why the power limit or the clocks are not what they were when this lease last set or restored something: another
  // lease of this process, or a process that has borrowed from it, has changed them, or the lease has ended. Empty
  // otherwise. Ask before you believe what was measured meanwhile.
  [[nodiscard]] std::string overruled() const;

  void restore();  // withdraws what this lease has set, and keeps it
  void renew();
  void release();  // withdraws what this lease has set, and ends it; the second time, nothing

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
  // Energy since this process first asked, with every wrap of the counter undone: asking starts the sampler that sees
  // them, which then runs as long as the process. `memory` is beside the package, where the machine counts it.
  [[nodiscard]] Reading<Joules> energy() const;
  [[nodiscard]] Reading<Joules> memory_energy() const;
  [[nodiscard]] bool counts_memory() const;

 private:
  int index_;
};

// Those that the visibility variables leave this program, in their order; found once per process.
ZEUS_API std::vector<Gpu> gpus();
ZEUS_API std::vector<CpuPackage> cpus();

// What is here and does not work as it should; where no GPU, or no CPU package, was found at all, also why.
ZEUS_API std::vector<DeviceProblem> device_problems();

}  // namespace zeus
