// Watches one node: a thread of its own asks the node's daemon periodically, so that no node delays another. Any thread
// may read the latest answers. The destructor returns within the time that one question may take.
#pragma once

#include "base/clock.hpp"
#include "cli/watch_tally.hpp"
#include "transport/client.hpp"

#include <zeus/units.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace zeus::cli {

class NodeWatch {
 public:
  // Asks once each `period`; without an answer, after growing pauses. The clock outlives it.
  NodeWatch(Clock& clock, transport::ClientPlan plan, Seconds period);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;
  ~NodeWatch();

  // Stops asking; does not wait for the question under way.
  void stop();
  [[nodiscard]] WatchedNode node() const;

 private:
  void watch();

  Clock& clock_;
  const transport::ClientPlan plan_;
  const Seconds period_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false;
  NodeTally tally_;
  std::thread thread_;
};

}  // namespace zeus::cli
