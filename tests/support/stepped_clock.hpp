// A clock for one thread, on which somebody works while others wait: whenever that thread sleeps or waits, time moves
// to each moment at which the worker is due, and the worker is called there. So is the world, in which things happen at
// their moment, whoever sleeps. The same way each time, as fast as it computes.
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace zeus::test {

class SteppedClock final : public Clock {
 public:
  // Does what is due and returns when to be called again; nothing: not before the next sleep.
  using Worker = std::function<std::optional<Instant>()>;

  void employ(Worker worker) { worker_ = std::move(worker); }
  // Who is called when it is due and not a little later, and whenever time begins to move. It does not sleep.
  void set_world(Worker world) { world_ = std::move(world); }

  [[nodiscard]] Instant now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall() const override { return clock_.wall(); }

  // A worker that sleeps itself moves the time, and the world, and nothing else.
  void sleep_until(Instant deadline) override {
    if (Worker worker = std::exchange(worker_, nullptr)) {
      for (auto due = worker(); due && wake_up(*due) <= deadline; due = worker()) {
        move_to(wake_up(*due));
      }
      worker_ = std::move(worker);
    }
    move_to(deadline);
  }

  // As if notified after the worker's next round.
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& /*condition*/,
                  Instant deadline) override {
    lock.unlock();
    const auto due = worker_ ? worker_() : std::nullopt;
    sleep_until(due ? std::min(wake_up(*due), deadline) : deadline);
    lock.lock();
  }

 private:
  // Threads wake up a little late, so that what was due has happened.
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
