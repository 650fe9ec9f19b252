// The one thread of a process that reads the devices: it reads each one when its counter is about to move, settles the
// edges that windows wait for, and reports its own cost. It runs while it is in use and for two seconds after.
// Any thread may call any member. After a fork the child's copy is dead: make another one (fork_guard.hpp).
#pragma once

#include "base/clock.hpp"
#include "measure/cpu_meter.hpp"
#include "measure/gpu_meter.hpp"
#include "measure/stillness.hpp"
#include "measure/window_edges.hpp"

#include <zeus/measure.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace zeus::measure {

class Sampler {
 public:
  static constexpr Seconds linger{2.0};

  struct Devices {
    std::vector<std::shared_ptr<device::Gpu>> gpus;
    std::vector<std::shared_ptr<device::CpuPackage>> cpus;
  };

  // Who calls poll(): a thread of the sampler's own, or the caller, who also moves the clock; so tests need not wait.
  enum class Polled { by_own_thread, by_caller };

  Sampler(Devices devices, Clock& clock, Polled polled = Polled::by_own_thread);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  [[nodiscard]] Clock& clock() const { return clock_; }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  [[nodiscard]] Polled polled() const { return polled_; }
  [[nodiscard]] GpuMeter& gpu(int index) const { return *gpus_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] CpuMeter& cpu(int index, device::CpuDomain domain) const;
  [[nodiscard]] int gpu_count() const { return static_cast<int>(gpus_.size()); }
  [[nodiscard]] int cpu_count() const { return static_cast<int>(packages_.size()); }

  // The devices of one use: only devices in use are read.
  struct Watched {
    std::vector<int> gpus;
    std::vector<int> cpus;
  };
  // Reads these devices from now on, until one release of the same.
  void use(const Watched& watched);
  void release(const Watched& watched);

  // Settles the window's edges as soon as possible, as long as another owner holds the window.
  void follow(const std::shared_ptr<WindowEdges>& edges);
  // Settles what can be settled of this window now; true if nothing is left to wait for.
  bool settle(WindowEdges& edges) const;
  // Waits for the next change, or until the deadline.
  void wait(Instant deadline);

  // One round: reads what is due and settles what can be settled. Returns when the next round is due; nothing when the
  // sampler has stopped, until it is used again.
  std::optional<Instant> poll();

  [[nodiscard]] SamplerCost cost() const;
  // Of the process, as far as there were rounds (stillness.hpp).
  [[nodiscard]] Seconds stood_still() const;
  [[nodiscard]] bool running() const;

 private:
  // How many uses a device has, and since when it has none. It is read for a while longer, just as the thread runs
  // longer.
  struct Use {
    int count = 0;
    Instant idle_since;
    bool awake = false;
    Instant due;  // the next round that reads it; only the polling thread needs it
  };

  void run();
  std::optional<Instant> take_turn();
  void settle_followed();
  Instant read_all();
  // Whether the device is still to be read. Pauses its meter if it has been unused for long enough.
  template <typename Meter>
  bool awake(Use& use, Meter& meter);
  void pause_all();

  Devices devices_;
  Clock& clock_;
  Polled polled_;
  std::vector<std::unique_ptr<GpuMeter>> gpus_;
  std::vector<std::unique_ptr<CpuMeter>> packages_;
  std::vector<std::unique_ptr<CpuMeter>> memories_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable progressed_;
  std::thread thread_;
  bool running_ = false;
  bool stopping_ = false;
  bool woken_ = false;  // something is to be read that was not before
  int users_ = 0;
  std::vector<Use> gpu_uses_;
  std::vector<Use> cpu_uses_;
  Instant idle_since_;
  Instant started_;
  Seconds ran_;
  Seconds cpu_;
  Spent spent_;
  Stillness stillness_;

  mutable std::mutex followed_mutex_;
  std::vector<std::weak_ptr<WindowEdges>> followed_;
  std::vector<std::weak_ptr<WindowEdges>> batch_;  // of the thread that polls
  std::size_t tidy_at_ = 64;
};

}  // namespace zeus::measure
