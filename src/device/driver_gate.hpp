// Every call to a vendor's driver passes here, and a lost device is reopened only when no call is inside that driver.
// Callers never wait: reopening is put off while any call is inside, even one that hangs.
// Any thread.
#pragma once

#include "device/gpu.hpp"

#include <shared_mutex>

namespace zeus::device {

class DriverGate {
 public:
  [[nodiscard]] std::shared_lock<std::shared_mutex> enter() { return std::shared_lock{mutex_}; }

  // Reopens a device if no call is inside now; says whether it did.
  bool reopen(device::Gpu& gpu) {
    const std::unique_lock alone{mutex_, std::try_to_lock};
    return alone.owns_lock() && gpu.reopen();
  }

 private:
  std::shared_mutex mutex_;
};

}  // namespace zeus::device
