// Reads the counters of one CPU package on a thread of its own, and continues them over wraps and short restarts
// (cpu_counter.hpp). It also reads them when no client asks, often enough not to miss a wrap.
// Threads: the loop's. Ownership: the loop outlives this object.
#pragma once

#include "base/file_tree.hpp"
#include "daemon/cpu_counter.hpp"
#include "daemon/device_thread.hpp"
#include "device/cpu_package.hpp"
#include "protocol/device_readings.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zeus::daemon {

class CpuReader {
 public:
  using End = DeviceThread::End;

  // Counters are kept in `folder`, unless that is null. `boot` shows whether they are of this boot of the machine.
  CpuReader(Loop& loop, std::uint32_t id, std::shared_ptr<device::CpuPackage> package,
            std::shared_ptr<const FileTree> folder, std::string boot, DeviceThread::Bounds bounds);

  // The number that clients use.
  [[nodiscard]] std::uint32_t id() const { return on_thread_->id; }
  [[nodiscard]] const device::CpuIdentity& identity() const { return on_thread_->package->identity(); }
  [[nodiscard]] bool has_dram() const { return has_dram_; }
  void ask(std::function<void(End, const protocol::CpuReadings&)> done);
  // Saves the counters, as the daemon's end does.
  void save(std::function<void()> done);
  void tick(Instant now);
  [[nodiscard]] DeviceThread& thread() { return thread_; }

 private:
  struct OnThread {
    std::uint32_t id;
    std::shared_ptr<device::CpuPackage> package;
    std::shared_ptr<const FileTree> folder;
    std::string boot;
    Clock& clock;
    std::array<CpuCounter, 2> counters;  // package, dram
    Instant next_save;

    void read(protocol::CpuReadings& readings);
    protocol::CpuCounterReading read(device::CpuDomain domain, CpuCounter& counter);
    [[nodiscard]] std::string file() const;
    void resume();
    void save();
  };

  void begin();

  Loop& loop_;
  std::shared_ptr<OnThread> on_thread_;
  bool has_dram_ = false;
  Seconds longest_unread_;
  Instant next_look_;
  std::vector<std::function<void(End, const protocol::CpuReadings&)>> waiting_;
  bool busy_ = false;
  DeviceThread thread_;
};

}  // namespace zeus::daemon
