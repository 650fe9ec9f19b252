// The GPUs and CPU packages that this program sees, what each can tell, and the lease under which a GPU is set.
//
//   for (const zeus::Gpu& gpu : zeus::gpus()) {
//     std::cout << gpu.name() << ": " << gpu.power(zeus::PowerMeaning::instant).value.value_or(zeus::Watts{}).value();
//   }
//   zeus::GpuLease lease = zeus::gpus().at(0).lease();
//   lease.set_power_limit(200_W);                 // put back when the lease ends, however it ends
//
// Threads: every member may be called from any thread. A reading never throws because of what a device does: it says
// why it has no value. Setting throws an Error. Fork: a child reads through devices opened anew; a lease belongs to the
// process that took it, and is dead in a forked child, which is another process when it asks for one. Handles are
// numbers: copy them freely; nothing needs closing.
#pragma once

#include <zeus/export.hpp>
#include <zeus/measure.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus {

namespace control {
class Lease;
}  // namespace control

// Why a device has no answer.
enum class NoAnswer {
  unsupported,   // this device, or its driver, has no such thing
  permission,    // it is there, and this user may not
  lost,          // the device, or its driver, has gone
  timeout,       // the driver did not answer in time
  unreliable,    // there is an answer, and a check has shown it to be wrong
  out_of_range,  // a setting outside of what the device allows
  unknown,       // the driver failed without saying why
};

template <typename T>
struct Answer {
  std::optional<T> value;
  NoAnswer why = NoAnswer::unknown;  // where there is no value
  std::string reason;                // the same for a person; empty where there is a value
};

enum class GpuVendor { nvidia, amd };

enum class PowerMeaning {
  instant,  // over the sensor's own short window
  average,  // over about a second
  plain,    // the driver's oldest reading: instant or averaged, by model and driver
};

enum class PowerPart {
  gpu,     // the GPU with its memory
  module,  // the whole module: a superchip's CPU, GPU and memory
  memory,  // the GPU's memory alone
};

enum class ClockDomain { graphics, memory };

struct GpuPowerLimits {
  Answer<Watts> current;   // what was last asked for
  Answer<Watts> standard;  // what the device starts with
  Answer<Watts> minimum;   // the range that may be asked for
  Answer<Watts> maximum;
  Answer<Watts> enforced;  // what holds now: lower than `current` where something else limits as well
};

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
  [[nodiscard]] Answer<Joules> energy() const;
  [[nodiscard]] Answer<PowerSample> power(PowerMeaning meaning, PowerPart part = PowerPart::gpu) const;
  [[nodiscard]] Answer<TemperatureSample> temperature() const;
  [[nodiscard]] GpuPowerLimits power_limits() const;
  // Highest first.
  [[nodiscard]] Answer<std::vector<Megahertz>> supported_memory_clocks() const;
  [[nodiscard]] Answer<std::vector<Megahertz>> supported_graphics_clocks(Megahertz memory) const;
  [[nodiscard]] Answer<Megahertz> clock(ClockDomain domain) const;
  [[nodiscard]] Answer<bool> persistence_mode() const;
  // "power cap, software thermal"; "none" when nothing holds the clocks back.
  [[nodiscard]] Answer<std::string> throttle_reasons() const;

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
  explicit GpuLease(std::unique_ptr<control::Lease> lease);
  GpuLease(GpuLease&&) noexcept;
  GpuLease& operator=(GpuLease&&) noexcept;
  GpuLease(const GpuLease&) = delete;
  GpuLease& operator=(const GpuLease&) = delete;
  ~GpuLease();

  // Returns what is enforced, which is lower where something else limits as well.
  Answer<Watts> set_power_limit(Watts limit);
  void lock_clocks(ClockDomain domain, Megahertz minimum, Megahertz maximum);
  void unlock_clocks(ClockDomain domain);
  Answer<bool> set_persistence_mode(bool enabled);

  // Why the power limit or the clocks are not what they were when this lease last set or restored something: another
  // lease of this process, or a process that has borrowed from it, has changed them, or the lease has ended. Empty
  // otherwise. Ask before you believe what was measured meanwhile.
  [[nodiscard]] std::string overruled() const;

  void restore();  // withdraws what this lease has set, and keeps it
  void renew();
  void release();  // withdraws what this lease has set, and ends it; the second time, nothing

 private:
  std::unique_ptr<control::Lease> lease_;
};

class ZEUS_API CpuPackage {
 public:
  explicit CpuPackage(int index) : index_{index} {}

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] std::string name() const;  // "package-0"
  // Energy since this process first asked, with every wrap of the counter undone: asking starts the sampler that sees
  // them, which then runs as long as the process. `memory` is beside the package, where the machine counts it.
  [[nodiscard]] Answer<Joules> energy() const;
  [[nodiscard]] Answer<Joules> memory_energy() const;
  [[nodiscard]] bool counts_memory() const;

 private:
  int index_;
};

// Those that the visibility variables leave this program, in their order; found once per process.
ZEUS_API std::vector<Gpu> gpus();
ZEUS_API std::vector<CpuPackage> cpus();

// Something that does not work here, for a person: which device or part, what is wrong, and what to do.
struct DeviceProblem {
  std::string device;
  std::string what;
  std::string fix;
};
// What is here and does not work as it should; where no GPU, or no CPU package, was found at all, also why.
ZEUS_API std::vector<DeviceProblem> device_problems();

}  // namespace zeus
