// Training on virtual GPUs in virtual time, for tests and measurements of a training session: steps that scatter, a
// meter with correct uncertainties, leases in a separate folder, and a log of every setter call of the driver. One
// thread.
#pragma once

#include "tests/support/temporary_folder.hpp"

#include "backends/virtual/virtual_gpu.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "control/lease_book.hpp"
#include "device/watt_range.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "train/session.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::test {

struct TrainingWork {
  physics::Demand demand;
  Seconds step;            // at the highest clock without a limit
  double scatter = 0.02;   // standard deviation of each step's time, and independently of its energy
  Seconds set_latency{};   // of a call to a setter, for each GPU in turn
  Seconds read_latency{};  // of the meter, after it has read an edge
};

// A built-in workload at its default batch size.
TrainingWork work_of(std::string_view workload, const physics::GpuModel& model);

// The cost of a step on a warm GPU; energy of one GPU.
struct SettledStep {
  Seconds time;
  Joules energy;
};
SettledStep settled_step(const physics::GpuModel& model, const TrainingWork& work, const PowerSetting& setting);

class VirtualTraining {
 public:
  // The GPUs are numbered (and so named) from `first` on. Leases are recorded in `folder`, or in a new one: the locks
  // of a folder stay open as long as the process, so thousands of trainings share one.
  VirtualTraining(const std::vector<physics::GpuModel>& models, const TrainingWork& work, std::uint64_t seed,
                  int first = 0, std::shared_ptr<const TemporaryFolder> folder = std::make_shared<TemporaryFolder>());

  // For one session at a time; this outlives it.
  [[nodiscard]] train::SessionParts parts();

  // Runs a step, as long as the GPUs need for it now; or only waits, at this power.
  void step();
  void evaluate(Seconds time, Watts power);
  void set_work(const TrainingWork& work);

  // As if the policy of a node allowed these power limits alone on that GPU: for parts() from now on.
  void bound(std::size_t index, std::vector<device::WattRange> allowed) { bounds_.at(index) = std::move(allowed); }

  [[nodiscard]] backends::virtual_gpu::VirtualGpu& gpu(std::size_t index) { return *gpus_.at(index); }
  [[nodiscard]] Watts limit(std::size_t index);
  [[nodiscard]] VirtualClock& clock() { return clock_; }
  [[nodiscard]] Seconds elapsed() const { return clock_.now() - start_; }
  // The cost of the steps so far at the highest clock without a limit, with the same scatter.
  [[nodiscard]] Seconds work_done() const { return work_done_; }
  // The true energy of all GPUs, including the scatter of steps.
  [[nodiscard]] Joules energy();

  // "power 250", "lock 135-1200", "unlock", as called in the driver, with times.
  struct Call {
    Instant at;
    std::size_t gpu = 0;
    std::string what;
  };
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }

 private:
  class TrueMeter;
  class LoggedControl;

  [[nodiscard]] std::vector<device::DiscoveredGpu> discovered();
  void put_load(const physics::Demand& demand);

  Instant start_{1'000'000'000};
  VirtualClock clock_{start_};
  std::vector<std::shared_ptr<backends::virtual_gpu::VirtualGpu>> gpus_;
  std::vector<std::vector<device::WattRange>> bounds_;  // by GPU
  TrainingWork work_;
  Random random_;
  Seconds work_done_;
  Joules unseen_;  // what the scatter adds to the energy of each GPU's model
  std::vector<Call> calls_;
  std::shared_ptr<const TemporaryFolder> folder_;
};

}  // namespace zeus::test
