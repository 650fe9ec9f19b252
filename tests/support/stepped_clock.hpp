// A clock for one thread, on which a worker runs while that thread waits. Whenever the thread sleeps or waits, time
// moves to each moment at which the worker is due, and the worker is called then. The world is called at the moments of
// its events, also while the worker sleeps. Deterministic, and as fast as the computation.
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace zeus::test {

class SteppedClock final : public Clock {
 public:
  // Does the due work and returns when to be called again; empty: not before the next sleep.
  using Worker = std::function<std::optional<Instant>()>;

  void employ(Worker worker) { worker_ = std::move(worker); }
  // Called exactly when it is due, and whenever time begins to move. It does not sleep.
  void set_world(Worker world) { world_ = std::move(world); }

  [[nodiscard]] Instant now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall() const override { return clock_.wall(); }

  // If the worker itself sleeps, only time and the world move.
  void sleep_until(Instant deadline) override {
    if (Worker worker = std::exchange(worker_, nullptr)) {
      for (auto due = worker(); due && wake_up(*due) <= deadline; due = worker()) {
        move_to(wake_up(*due));
      }
      worker_ = std::move(worker);
    }
    move_to(deadline);
  }

  // Returns as if the condition were notified after the worker's next round.
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& /*condition*/,
                  Instant deadline) override {
    lock.unlock();
    const auto due = worker_ ? worker_() : std::nullopt;
    sleep_until(due ? std::min(wake_up(*due), deadline) : deadline);
    lock.lock();
  }

 private:
  // Threads wake up a little late, so that due events have happened.
  [[nodiscard]] Instant wake_up(Instant due) const { return std::max(due, now()) + Milliseconds{0.05}; }

  void move_to(Instant deadline) {
    if (world_) {
      for (auto due = world_(); due && *due <= deadline; due = world_()) {
        clock_.sleep_until(*due);
      }
    }
    clock_.sleep_until(deadline);
  }

  VirtualClock clock_{Instant{1'000'000'000'000}};
  Worker worker_;
  Worker world_;
};

}  // namespace zeus::test
