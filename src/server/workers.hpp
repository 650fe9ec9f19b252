// The threads on which operations run: a few, however many clients there are, behind a queue of bounded length. What
// has the same key is done one after the other, in the order in which it came, and holds up nobody else; that decides
// nothing, it only keeps two threads from waiting for the same job. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace zeus::server {

class Workers {
 public:
  using Work = std::function<void()>;  // throws nothing

  Workers(std::size_t threads, std::size_t most_waiting);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // Drops what waits, and waits for what is under way.
  ~Workers();

  // False, and nothing is done, where too much waits. An empty key is nobody's.
  bool add(const std::string& key, Work work);
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t busy() const;

 private:
  struct Item {
    std::string key;
    Work work;
  };

  void run();

  const std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  // Of each key that is being worked for: what waits until that is done.
  std::unordered_map<std::string, std::deque<Work>> behind_;
  std::size_t waiting_ = 0;
  std::size_t busy_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace zeus::server
