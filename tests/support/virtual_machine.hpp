// A machine of virtual GPUs on a clock of its own, for tests of whole fronts in one process. `zeus run` gets its GPUs
// as arguments; the code of libzeus.so and libzeus-jobs.so, which is linked here without its own machine and clock
// (zeus_virtual_fronts), finds the machine that was made last. One machine at a time, one thread.
#pragma once

#include "backends/virtual/virtual_gpu.hpp"
#include "control/lease_book.hpp"
#include "control/lessor.hpp"
#include "device/watt_range.hpp"
#include "library/machine.hpp"
#include "measure/sampler_source.hpp"
#include "tests/support/stepped_clock.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::test {

class VirtualMachine {
 public:
  explicit VirtualMachine(const std::vector<physics::GpuModel>& models);
  VirtualMachine(const VirtualMachine&) = delete;
  VirtualMachine& operator=(const VirtualMachine&) = delete;
  ~VirtualMachine();

  // A process begins, in place of the one before: it has a sampler and leases of its own.
  void begin_process();
  void end_process();

  void pass(Seconds time) { clock_.sleep_until(clock_.now() + time); }
  // The process is suspended for so long: none of its threads runs.
  void stand_still(Seconds time);
  // From the next process on, a policy allows these power limits alone; without any, all.
  void allow(std::optional<device::WattRange> limits) { allowed_ = limits; }

  [[nodiscard]] SteppedClock& clock() { return clock_; }
  [[nodiscard]] backends::virtual_gpu::VirtualGpu& gpu(std::size_t index = 0) { return *gpus_.at(index); }
  [[nodiscard]] std::size_t gpu_count() const { return gpus_.size(); }
  [[nodiscard]] Joules true_energy() const;

  // Of the process.
  [[nodiscard]] std::vector<std::shared_ptr<device::Gpu>> gpus() const { return {gpus_.begin(), gpus_.end()}; }
  [[nodiscard]] const std::shared_ptr<measure::SamplerSource>& sampler() const { return process_->sampler; }
  [[nodiscard]] const std::shared_ptr<control::Lessor>& lessor() const { return process_->lessor; }
  [[nodiscard]] control::LeaseBook open_book(std::vector<device::DiscoveredGpu> gpus) const;
  [[nodiscard]] control::LeaseBook open_book() const { return open_book(process_->gpus); }
  [[nodiscard]] control::LeaseBook& book();
  [[nodiscard]] const library::Machine& process() const { return *process_; }

 private:
  TemporaryFolder folder_;
  SteppedClock clock_;
  std::vector<std::shared_ptr<backends::virtual_gpu::VirtualGpu>> gpus_;
  std::optional<device::WattRange> allowed_;
  std::optional<library::Machine> process_;
  std::optional<control::LeaseBook> book_;
};

}  // namespace zeus::test
