#include "daemon/device_thread.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace zeus::daemon {

// What the thread itself works with; the thread keeps it alive.
struct DeviceThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> work;
  std::function<void()> tell_done;  // empty once the DeviceThread is gone
  bool over = false;
  bool is_working = false;
  std::thread thread;

  void run() {
    std::unique_lock lock{mutex};
    while (true) {
      changed.wait(lock, [&] { return over || work; });
      if (!work) {
        return;
      }
      std::function<void()> now = std::exchange(work, nullptr);
      is_working = true;
      lock.unlock();
      now();
      now = nullptr;  // frees what it owns before the next call begins
      lock.lock();
      is_working = false;
      if (!over) {
        tell_done();
      }
    }
  }
};

DeviceThread::DeviceThread(Loop& loop, std::string name, Bounds bounds)
    : loop_{loop}, bounds_{bounds}, shared_{std::make_shared<Shared>()} {
  // Work posted before this object is destroyed, and called after it, does nothing.
  shared_->tell_done = [this, alive = std::weak_ptr{alive_}] {
    loop_.post([this, alive] {
      if (!alive.expired()) {
        finish();
      }
    });
  };
  shared_->thread = std::thread{[shared = shared_] { shared->run(); }};
  constexpr std::size_t longest_name = 15;  // the kernel's limit
  name.resize(std::min(name.size(), longest_name));
  ::pthread_setname_np(shared_->thread.native_handle(), name.c_str());
}

DeviceThread::~DeviceThread() {
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->over = true;
  }
  shared_->changed.notify_one();
  if (is_working()) {
    shared_->thread.detach();
  } else {
    shared_->thread.join();
  }
}

bool DeviceThread::is_working() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->is_working;
}

void DeviceThread::ask(Call call) {
  if (!call.is_owed) {
    tick(loop_.clock().now());
    if (stuck_) {
      call.ended(End::stuck);
      return;
    }
    if (queue_.size() >= bounds_.waiting) {
      call.ended(End::too_many);
      return;
    }
    queue_.push_back(std::move(call));
  } else {
    const auto first = std::ranges::find_if_not(queue_, &Call::is_owed);
    queue_.insert(first, std::move(call));
  }
  if (!current_) {
    begin_next();
  }
}

void DeviceThread::begin_next() {
  // What is told that it is abandoned may ask for more, which then begins here, too.
  while (!current_ && !queue_.empty()) {
    Call next = std::move(queue_.front());
    queue_.pop_front();
    if (!next.is_owed && next.is_wanted && !next.is_wanted()) {
      next.ended(End::abandoned);
      continue;
    }
    const Instant now = loop_.clock().now();
    current_ = Current{std::move(next.ended), now, next.is_owed};
    loop_.wake_by(now + bounds_.patience);
    {
      const std::lock_guard lock{shared_->mutex};
      shared_->work = std::move(next.work);
    }
    shared_->changed.notify_one();
    return;
  }
}

void DeviceThread::finish() {
  const std::function<void(End)> ended = std::move(current_->ended);
  current_.reset();
  stuck_ = false;
  ended(End::done);
  if (!current_) {
    begin_next();
  }
}

void DeviceThread::tick(Instant now) {
  if (!current_ || stuck_) {
    return;
  }
  if (now < current_->since + bounds_.patience) {
    loop_.wake_by(current_->since + bounds_.patience);
    return;
  }
  stuck_ = true;
  for (Call& one : std::exchange(queue_, {})) {
    if (one.is_owed) {
      queue_.push_back(std::move(one));
    } else {
      one.ended(End::stuck);
    }
  }
  if (!current_->is_owed) {
    // A copy is called: it may ask for more here.
    const std::function<void(End)> ended = current_->ended;
    ended(End::late);
  }
}

std::optional<Instant> DeviceThread::stuck_since() const {
  return stuck_ ? std::optional{current_->since} : std::nullopt;
}

}  // namespace zeus::daemon
