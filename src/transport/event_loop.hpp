// The one thread that waits for sockets, timers and descriptors, and calls the functions that are due. These must
// return soon: none may touch a device, a file or a name service.
//
// Threads: one thread calls run(); any may call post() and stop(); everything else is for the loop's thread, or before
// run(). Ownership: what a function uses must outlive the loop, or its Watch must be destroyed before.
#pragma once

#include <zeus/units.hpp>

#include <functional>
#include <memory>

namespace zeus::transport {

class EventLoop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  // Returns after stop() was called.
  void run();
  void stop();
  // Calls `work` on the loop's thread, in the order of posting. Work posted after stop() is dropped at the loop's end.
  void post(std::function<void()> work);

  // A timer or a watch on a descriptor, until it is destroyed, before the loop is. The function that it calls may
  // destroy it.
  class Watch {
   public:
    Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    Watch(Watch&& other) noexcept;
    Watch& operator=(Watch&& other) noexcept;
    ~Watch();

   private:
    friend class EventLoop;
    struct State;
    explicit Watch(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
  };
  // Calls `work` once, after this time.
  [[nodiscard]] Watch after(Seconds time, std::function<void()> work);
  // Calls `work` again and again while the descriptor can be read (or has ended: a pidfd, a pipe). The descriptor stays
  // its owner's, and becomes non-blocking; several may watch the same one.
  [[nodiscard]] Watch when_readable(int descriptor, std::function<void()> work);

  struct State;
  // For the server, in this module alone.
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace zeus::transport
