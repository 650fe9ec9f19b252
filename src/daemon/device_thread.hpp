// A thread that does one device's work, one call after the other, so that a driver that hangs holds up nobody but who
// asks for that device. The queue before it is bounded, drops what nobody waits for any more, and answers at once while
// the device is stuck.
//
// Threads: all members belong to the loop's. `work` runs on the device's thread and shares with the loop only what it
// owns; `ended` is called on the loop's. Ownership: the loop outlives this; work that hangs may outlive both.
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
    done,       // the work has been done, whatever came of it
    too_many,   // the queue is full
    late,       // it has been under way for longer than a call may take; it goes on, and `done` comes when it is over
    stuck,      // another call has been under way for that long: this one was not begun
    abandoned,  // nobody wanted it any more when its turn came
  };

  struct Call {
    std::function<void()> work;       // throws nothing
    std::function<void(End)> ended;   // once, but for what comes after `late`
    std::function<bool()> is_wanted;  // empty: it is
    // Ends what was begun: it is neither refused nor dropped nor late, and comes before what is not.
    bool is_owed = false;
  };

  struct Bounds {
    Seconds patience{2};
    std::size_t waiting = 64;
  };

  DeviceThread(Loop& loop, std::string name, Bounds bounds);
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;
  // A thread that is in a call is left behind: it ends with the call, which shares what it needs.
  ~DeviceThread();

  void ask(Call call);
  // Judges whether the call under way hangs.
  void tick(Instant now);
  // Since when the call under way has been, where it hangs.
  [[nodiscard]] std::optional<Instant> stuck_since() const;
  // Whether a call is in the device at this moment.
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
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // for what was posted: goes first
};

}  // namespace zeus::daemon
