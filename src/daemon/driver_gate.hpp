// Whoever calls a vendor's driver passes here; whoever opens a lost device anew must be alone with that driver. Nobody
// who calls ever waits: opening is put off for as long as somebody is inside, even in a call that hangs.
// Any thread.
#pragma once

#include "device/gpu.hpp"

#include <shared_mutex>

namespace zeus::daemon {

class DriverGate {
 public:
  [[nodiscard]] std::shared_lock<std::shared_mutex> enter() { return std::shared_lock{mutex_}; }

  // Opens a device anew if nobody else is inside now; says whether it did.
  bool reopen(device::Gpu& gpu) {
    const std::unique_lock alone{mutex_, std::try_to_lock};
    return alone.owns_lock() && gpu.reopen();
  }

 private:
  std::shared_mutex mutex_;
};

}  // namespace zeus::daemon
