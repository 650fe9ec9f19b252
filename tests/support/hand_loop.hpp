// An event loop that a test drives. Calls posted by other threads run when the test waits for them. The test decides
// when time advances and when descriptors become readable. Use it on the test's thread, except for post().
#pragma once

#include "base/clock.hpp"
#include "daemon/loop.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace zeus::test {

class HandLoop final : public daemon::Loop {
 public:
  // `tick` is the daemon's periodic call.
  explicit HandLoop(VirtualClock& clock) : clock_{clock} {}
  std::function<void(Instant)> tick;

  Clock& clock() override { return clock_; }
  void post(std::function<void()> work) override {
    {
      const std::lock_guard lock{mutex_};
      posted_.push_back(std::move(work));
    }
    changed_.notify_one();
  }
  void wake_by(Instant time) override { due_ = due_ ? std::min(*due_, time) : time; }
  std::shared_ptr<void> when_readable(int descriptor, std::function<void()> work) override {
    const std::uint64_t number = next_++;
    watches_[number] = {descriptor, std::move(work)};
    return {nullptr, [this, number](void*) { watches_.erase(number); }};
  }

  // Runs posted calls until the condition is true; throws, which fails a test, if that takes much longer than any
  // machine needs.
  void run_until(const std::function<bool()>& is_so) {
    const auto patience = std::chrono::seconds{20};
    while (!is_so()) {
      std::unique_lock lock{mutex_};
      if (!changed_.wait_for(lock, patience, [&] { return !posted_.empty(); })) {
        throw std::runtime_error{"nothing more is posted, and what is waited for has not come"};
      }
      const std::function<void()> work = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      work();
    }
  }

  // Time passes, and the timers due by then are called in order.
  void advance(Seconds amount) {
    const Instant end = clock_.now() + amount;
    while (due_ && *due_ <= end) {
      const Instant due = *std::exchange(due_, std::nullopt);
      if (due > clock_.now()) {
        clock_.advance(due - clock_.now());
      }
      tick(clock_.now());
    }
    if (end > clock_.now()) {
      clock_.advance(end - clock_.now());
    }
  }

  void make_readable(int descriptor) {
    const std::map<std::uint64_t, Watched> all = watches_;
    for (const auto& [number, watched] : all) {
      if (watched.descriptor == descriptor && watches_.contains(number)) {
        watched.work();
      }
    }
  }
  [[nodiscard]] std::size_t watches() const { return watches_.size(); }

 private:
  struct Watched {
    int descriptor = -1;
    std::function<void()> work;
  };

  VirtualClock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> posted_;
  std::optional<Instant> due_;
  std::map<std::uint64_t, Watched> watches_;
  std::uint64_t next_ = 1;
};

}  // namespace zeus::test
