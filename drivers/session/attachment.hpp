// A process's attachment to its session: how often a driver library was initialised, and the session itself, found by
// session_variable. One for each driver library in a process; any thread may call any member. A forked child begins
// uninitialised, as with the vendors' libraries, and finds no lock held. The session stays mapped until the process
// ends, since other threads may be inside a call when one shuts the library down. While it is initialised, it has a
// thread of its own, as NVIDIA's library has (seen with driver 580.159.04): signals that the client does not block in
// the thread that initialises may reach that one.
#pragma once

#include "base/clock.hpp"
#include "drivers/session/session.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace zeus::drivers {

enum class AttachResult { attached, no_session, other_layout };

class Attachment {
 public:
  static Attachment& instance();

  // To a vendor's library, a session without a GPU of that vendor does not exist: such a machine would have no driver.
  AttachResult initialise(Vendor vendor);
  // False if it was not initialised.
  bool shut_down();

  // Null unless initialised.
  [[nodiscard]] Session* session() const {
    return users_.load(std::memory_order_acquire) > 0 ? session_.get() : nullptr;
  }
  // The session, initialised or not; null if there is none to attach to.
  Session* attached();
  [[nodiscard]] SystemClock& clock() { return clock_; }
  [[nodiscard]] std::int32_t process() const { return process_.load(std::memory_order_relaxed); }

 private:
  struct OwnThread {
    std::atomic<bool> over = false;
    std::thread thread;
  };

  Attachment();
  AttachResult attach();

  std::mutex mutex_;
  std::atomic<int> users_ = 0;
  std::atomic<std::int32_t> process_ = 0;
  std::unique_ptr<Session> session_;
  std::unique_ptr<OwnThread> own_thread_;
  SystemClock clock_;
};

}  // namespace zeus::drivers
