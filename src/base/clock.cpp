#include "base/clock.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace zeus {

namespace {

std::chrono::steady_clock::time_point to_steady(Instant instant) {
  return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{instant.nanoseconds}};
}

}  // namespace

Instant SystemClock::now() const {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count()};
}

WallTime SystemClock::wall() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count()};
}

void SystemClock::sleep_until(Instant deadline) {
  std::this_thread::sleep_until(to_steady(deadline));
}

void SystemClock::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, Instant deadline) {
  condition.wait_until(lock, to_steady(deadline));
}

struct VirtualClock::State {
  struct Waiter {
    Instant deadline;
    std::mutex* mutex = nullptr;
    std::condition_variable* condition = nullptr;
  };

  mutable std::mutex mutex;
  Instant now;
  WallTime wall;
  // Locked after a waiter's own mutex; while holding it, only try to lock a waiter's mutex.
  std::mutex waiters_mutex;
  std::vector<const Waiter*> waiters;

  // Notifies the waiters that are due, each under its own mutex, so that none can miss it. False if a mutex was busy.
  bool notify_due(Instant target) {
    const std::lock_guard guard{waiters_mutex};
    return std::ranges::all_of(waiters, [&](const Waiter* waiter) {
      if (waiter->deadline > target) {
        return true;
      }
      const std::unique_lock waiter_lock{*waiter->mutex, std::try_to_lock};
      if (waiter_lock.owns_lock()) {
        waiter->condition->notify_all();
      }
      return waiter_lock.owns_lock();
    });
  }

  void move_to(Instant target) {
    const std::lock_guard guard{mutex};
    if (target > now) {
      wall.microseconds_since_epoch += (target.nanoseconds - now.nanoseconds) / 1000;
      now = target;
    }
  }
};

VirtualClock::VirtualClock(Instant start, WallTime wall_start) : state_{std::make_unique<State>()} {
  state_->now = start;
  state_->wall = wall_start;
}

VirtualClock::~VirtualClock() = default;

Instant VirtualClock::now() const {
  const std::lock_guard guard{state_->mutex};
  return state_->now;
}

WallTime VirtualClock::wall() const {
  const std::lock_guard guard{state_->mutex};
  return state_->wall;
}

void VirtualClock::sleep_until(Instant deadline) {
  const Seconds ahead = deadline - now();
  if (ahead > Seconds{0}) {
    advance(ahead);
  }
}

void VirtualClock::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                              Instant deadline) {
  const State::Waiter waiter{deadline, lock.mutex(), &condition};
  {
    const std::lock_guard guard{state_->waiters_mutex};
    state_->waiters.push_back(&waiter);
  }
  if (now() < deadline) {
    condition.wait(lock);
  }
  const std::lock_guard guard{state_->waiters_mutex};
  std::erase(state_->waiters, &waiter);
}

void VirtualClock::advance(Seconds amount) {
  if (amount < Seconds{0}) {
    throw Error{ErrorKind::invalid_argument, "a virtual clock cannot go back in time"};
  }
  const Instant target = now() + amount;
  state_->move_to(target);
  while (!state_->notify_due(target)) {
    std::this_thread::yield();
  }
}

void VirtualClock::step_wall(Seconds amount) {
  const std::lock_guard guard{state_->mutex};
  state_->wall.microseconds_since_epoch += static_cast<std::int64_t>(amount.value() * 1e6);
}

}  // namespace zeus
