// A thread that does one device's work, one call after the other. A driver that hangs delays only clients that ask for
// that device. The queue before the thread is bounded, drops calls whose client has gone, and answers at once while the
// device is stuck.
//
// Threads: all members belong to the loop's. `work` runs on the device's thread, and shares with the loop only what it
// owns; `ended` is called on the loop's. Ownership: the loop outlives this object; work that hangs may outlive both.
#pragma once

#include "daemon/loop.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace zeus::daemon {

class DeviceThread {
 public:
  enum class End {
    done,       // the work was done, with any result
    too_many,   // the queue is full
    late,       // it has taken longer than a call may; it goes on, and `done` comes when it is over
    stuck,      // another call has taken that long: this one was not begun
    abandoned,  // when its turn came, no client wanted it any more
  };

  struct Call {
    std::function<void()> work;       // must not throw
    std::function<void(End)> ended;   // called once, and again after `late`
    std::function<bool()> is_wanted;  // empty: it is wanted
    // The call ends something that was begun: it is never refused, dropped or late, and goes before all other calls.
    bool is_owed = false;
  };

  struct Bounds {
    Seconds patience{2};
    std::size_t waiting = 64;
  };

  DeviceThread(Loop& loop, std::string name, Bounds bounds);
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;
  // A thread that is in a call is left behind. It ends with the call, and shares the ownership of what it needs.
  ~DeviceThread();

  void ask(Call call);
  // Checks whether the present call hangs.
  void tick(Instant now);
  // When the present call began, if it hangs.
  [[nodiscard]] std::optional<Instant> stuck_since() const;
  // Whether a call is in the device now.
  [[nodiscard]] bool is_working() const;
  [[nodiscard]] bool is_idle() const { return !current_ && queue_.empty(); }
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

 private:
  struct Shared;
  struct Current {
    std::function<void(End)> ended;
    Instant since;
    bool is_owed = false;
  };

  void begin_next();
  void finish();

  Loop& loop_;
  Bounds bounds_;
  std::shared_ptr<Shared> shared_;
  std::deque<Call> queue_;
  std::optional<Current> current_;
  bool stuck_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // for posted work: is destroyed first
};

}  // namespace zeus::daemon
