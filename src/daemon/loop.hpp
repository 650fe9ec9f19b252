// The event loop as the daemon's parts see it; a test drives one by hand. All parts live on its one thread, and none of
// them waits: calls to a device or a file are made on a thread of that device's own (device_thread.hpp).
#pragma once

#include "base/clock.hpp"

#include <functional>
#include <memory>

namespace zeus::daemon {

class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  virtual ~Loop() = default;

  [[nodiscard]] virtual Clock& clock() = 0;
  // Calls this on the loop's thread, in order. Any thread.
  virtual void post(std::function<void()> work) = 0;
  // Makes sure that every part's tick() is called by then. The loop's thread.
  virtual void wake_by(Instant time) = 0;
  // Calls this whenever the descriptor can be read, until the returned object is destroyed. The loop's thread.
  [[nodiscard]] virtual std::shared_ptr<void> when_readable(int descriptor, std::function<void()> work) = 0;
};

}  // namespace zeus::daemon
