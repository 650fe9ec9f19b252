// Batches work that costs the same for several tasks as for one: threads that come while a turn is running wait, and
// one of them then does the work of all. Any number of threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

namespace zeus::store {

template <typename Task>
class SharedTurns {
 public:
  // Turns run with `resource` locked; it must outlive this. At most `most` tasks share one.
  SharedTurns(std::mutex& resource, std::size_t most) : resource_{resource}, most_{most} {}

  // Returns when a call of `work`, by this thread or another, has included `task`. `work` must not throw.
  void join(Task& task, const std::function<void(std::span<Task* const>)>& work) {
    Seat mine{.task = &task};
    std::unique_lock lock{mutex_};
    waiting_.push_back(&mine);
    while (true) {
      changed_.wait(lock, [&] { return mine.done || !taken_; });
      if (mine.done) {
        return;
      }
      take_turn(lock, work);
    }
  }

  // How many are waiting for the next turn.
  [[nodiscard]] std::size_t waiting() const {
    const std::scoped_lock lock{mutex_};
    return waiting_.size();
  }

 private:
  struct Seat {
    Task* task;
    bool done = false;
  };

  void take_turn(std::unique_lock<std::mutex>& lock, const std::function<void(std::span<Task* const>)>& work) {
    taken_ = true;
    lock.unlock();
    std::vector<Seat*> seats;
    {
      // More tasks may arrive while another thread holds the resource.
      const std::scoped_lock turn{resource_};
      lock.lock();
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most_, waiting_.size()));
      seats.assign(waiting_.begin(), end);
      waiting_.erase(waiting_.begin(), end);
      lock.unlock();
      std::vector<Task*> tasks(seats.size());
      std::ranges::transform(seats, tasks.begin(), &Seat::task);
      work(tasks);
    }
    lock.lock();
    for (Seat* const seat : seats) {
      seat->done = true;
    }
    taken_ = false;
    changed_.notify_all();
  }

  std::mutex& resource_;
  std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Seat*> waiting_;
  bool taken_ = false;
};

}  // namespace zeus::store
