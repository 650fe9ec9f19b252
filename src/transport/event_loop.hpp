// The one thread that waits for sockets, timers and descriptors, and calls whoever is due. Whatever it calls must
// return soon: nothing that it calls may touch a device, a file or a name service.
//
// Threads: run() is one thread's; post() and stop() may be called from any; everything else on the loop's thread, or
// before run(). Ownership: whoever is called must outlive the loop, or give its Watch back.
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

  // Returns after stop().
  void run();
  void stop();
  // Has `work` called on the loop's thread, in the order in which it was posted. What is posted after stop() is
  // dropped at the loop's end.
  void post(std::function<void()> work);

  // A timer or a look at a descriptor, until it is destroyed: before the loop is. May be destroyed by what it calls.
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
  // Once, after this time.
  [[nodiscard]] Watch after(Seconds time, std::function<void()> work);
  // Again and again while the descriptor can be read (or has ended: a pidfd, a pipe). It stays its owner's, and is
  // made one that does not block; several may watch the same.
  [[nodiscard]] Watch when_readable(int descriptor, std::function<void()> work);

  struct State;
  // What the server, in this module alone, does with it.
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace zeus::transport
