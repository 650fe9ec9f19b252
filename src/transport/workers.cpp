#include "transport/workers.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace zeus::transport {

Workers::Workers(std::size_t threads, std::size_t most_waiting) : most_waiting_{most_waiting} {
  threads_.reserve(threads);
  std::string why;
  try {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
    return;
  } catch (const std::system_error& refused) {
    why = refused.code().message();
  }
  end();
  throw Error{ErrorKind::unavailable,
              fmt::format("the system starts no more than {} of {} threads: {}", threads_.size(), threads, why),
              "allow more memory and threads (`ulimit -v`, `ulimit -u`)"};
}

Workers::~Workers() {
  end();
}

void Workers::end() {
  {
    const std::lock_guard guard{mutex_};
    over_ = true;
    ready_.clear();
    behind_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

bool Workers::add(const std::string& key, Work work) {
  {
    const std::lock_guard guard{mutex_};
    if (over_ || waiting_ >= most_waiting_) {
      return false;
    }
    ++waiting_;
    if (!key.empty()) {
      const auto [under_way, is_first] = behind_.try_emplace(key);
      if (!is_first) {
        under_way->second.push_back(std::move(work));
        return true;
      }
    }
    ready_.push_back({key, std::move(work)});
  }
  changed_.notify_one();
  return true;
}

std::size_t Workers::waiting() const {
  const std::lock_guard guard{mutex_};
  return waiting_;
}

std::size_t Workers::busy() const {
  const std::lock_guard guard{mutex_};
  return busy_;
}

void Workers::run() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [&] { return over_ || !ready_.empty(); });
    if (over_) {
      return;
    }
    Item item = std::move(ready_.front());
    ready_.pop_front();
    --waiting_;
    ++busy_;
    lock.unlock();
    item.work();
    item.work = nullptr;  // releasing what it holds may take time
    lock.lock();
    --busy_;
    const auto under_way = behind_.find(item.key);
    if (item.key.empty() || under_way == behind_.end()) {
      continue;
    }
    if (under_way->second.empty()) {
      behind_.erase(under_way);
    } else {
      ready_.push_back({item.key, std::move(under_way->second.front())});
      under_way->second.pop_front();
      changed_.notify_one();
    }
  }
}

}  // namespace zeus::transport
