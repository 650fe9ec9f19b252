// Time as an argument. Code that needs the time, or needs to wait, takes a Clock&; only programs choose SystemClock.
// All members of every Clock may be called from any thread. A Clock outlives whatever waits on it.
#pragma once

#include <zeus/units.hpp>

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace zeus {

// A point on the monotonic clock of this machine (CLOCK_MONOTONIC), in whole nanoseconds so that days lose no
// precision.
struct Instant {
  std::int64_t nanoseconds = 0;

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Seconds operator-(Instant a, Instant b) {
    return Seconds{static_cast<double>(a.nanoseconds - b.nanoseconds) * 1e-9};
  }
  friend constexpr Instant operator+(Instant a, Seconds b) {
    const double shift = b.value() * 1e9;
    return {a.nanoseconds + static_cast<std::int64_t>(shift < 0 ? shift - 0.5 : shift + 0.5)};
  }
  friend constexpr Instant operator-(Instant a, Seconds b) { return a + (-b); }
};

// A point in civil time (UTC), for logs and records only: it may step, so durations are never computed from it.
struct WallTime {
  std::int64_t microseconds_since_epoch = 0;
  friend constexpr auto operator<=>(WallTime, WallTime) = default;
};

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
  virtual void sleep_until(Instant deadline) = 0;

  // Waits on `condition` (whose mutex `lock` holds) until it is notified or `deadline` has come; spurious wake-ups are
  // possible, as with std::condition_variable.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, Instant deadline) = 0;
};

// The machine's own clock.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] WallTime wall() const override;
  void sleep_until(Instant deadline) override;
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, Instant deadline) override;
};

// A clock that stands still until it is moved: hours pass in microseconds, and the same way each time. sleep_until
// moves the time itself, which suits a single-threaded simulation; wait_until blocks until another thread moves the
// time (advance) or notifies.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Instant start = {}, WallTime wall_start = {});
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;
  ~VirtualClock() override;

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] WallTime wall() const override;
  void sleep_until(Instant deadline) override;
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, Instant deadline) override;

  // Moves the time forward and wakes every thread that is due. A negative amount is an invalid_argument Error. The
  // caller must not hold a mutex that another thread waits with.
  void advance(Seconds amount);
  // Steps civil time alone, as an administrator or a time server may do at any moment.
  void step_wall(Seconds amount);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zeus
