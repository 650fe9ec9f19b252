// Reads one GPU on a thread of its own: what several clients ask for at once is read once. A GPU that hangs delays only
// clients that ask for it, and for no longer than a call may take.
// Threads: the loop's. Ownership: the loop and the gate outlive this object.
#pragma once

#include "daemon/device_thread.hpp"
#include "device/backend.hpp"
#include "device/driver_gate.hpp"
#include "protocol/device_readings.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::daemon {

class GpuReader {
 public:
  using End = DeviceThread::End;

  using Parts = protocol::GpuParts;
  // One more part: one power alone, the first of instant, average and plain that this GPU has.
  static constexpr std::uint32_t power_now = 1U << 31;

  GpuReader(Loop& loop, const device::DiscoveredGpu& gpu, std::shared_ptr<device::DriverGate> gate,
            DeviceThread::Bounds bounds);

  // Calls `done` once; if the end is `done`, with at least these parts.
  void ask(std::uint32_t parts, std::function<void(End, const protocol::GpuReadings&)> done);
  [[nodiscard]] DeviceThread& thread() { return thread_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Asked {
    std::uint32_t parts;
    std::function<void(End, const protocol::GpuReadings&)> done;
  };
  // What is used on the device's thread.
  struct OnThread {
    std::shared_ptr<device::Gpu> gpu;
    std::shared_ptr<device::DriverGate> gate;
    std::uint32_t id = 0;
    Clock& clock;
    Instant next_opening;

    void read(std::uint32_t parts, protocol::GpuReadings& readings);
  };

  void begin();
  static void answer(const std::vector<Asked>& asked, End end, const protocol::GpuReadings& readings);

  Loop& loop_;
  std::shared_ptr<OnThread> on_thread_;
  std::vector<Asked> waiting_;
  std::vector<Asked> under_way_;
  bool busy_ = false;
  DeviceThread thread_;
};

}  // namespace zeus::daemon
