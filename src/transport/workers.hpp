// The threads that run operations: a few for any number of clients, behind a queue of bounded length. Work with the
// same key runs one after another in the order of its arrival and does not delay other keys. This decides nothing; it
// only keeps two threads from waiting for the same job. Any thread.
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

namespace zeus::transport {

class Workers {
 public:
  using Work = std::function<void()>;  // must not throw

  // An unavailable Error if the system does not start that many threads.
  Workers(std::size_t threads, std::size_t most_waiting);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // Drops the queue, and waits for running work.
  ~Workers();

  // False, and nothing is done, if the queue is full. Work with an empty key waits for no other.
  bool add(const std::string& key, Work work);
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t busy() const;

 private:
  struct Item {
    std::string key;
    Work work;
  };

  void run();
  void end();

  const std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  // For each key with running work: what waits for its end.
  std::unordered_map<std::string, std::deque<Work>> behind_;
  std::size_t waiting_ = 0;
  std::size_t busy_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace zeus::transport
