// One node that is watched: a thread that asks its daemon again and again, and waits for nobody else. What it knows may
// be asked for from any thread. Ends within the time that one question may take.
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
  // Asks each `period`; where there is no answer, after pauses that grow. The clock outlives it.
  NodeWatch(Clock& clock, transport::ClientPlan plan, Seconds period);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;
  ~NodeWatch();

  // Asks no more; does not wait for the question that is under way.
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
