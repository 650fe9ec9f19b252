// The thread that sets the clocks of a pipeline plan, so that the training never waits for the driver.
//
// Threads: as zeus::PipelineClocks, of which it is the working part. Ownership: it owns its DrivenClock and its thread;
// the Clock outlives it. Fork: a forked child has no such thread, and calls do nothing there.
#pragma once

#include "base/clock.hpp"
#include "pacing/pipeline_timing.hpp"

#include <zeus/pipeline.hpp>
#include <zeus/units.hpp>

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::pacing {

// One GPU's clock as the follower drives it: called by its thread only, and by the constructor before the thread
// starts. If nothing can be set, making one throws an Error.
class DrivenClock {
 public:
  DrivenClock() = default;
  DrivenClock(const DrivenClock&) = delete;
  DrivenClock& operator=(const DrivenClock&) = delete;
  virtual ~DrivenClock() = default;

  virtual void lock(Megahertz clock) = 0;                        // throws an Error if the device refuses
  [[nodiscard]] virtual std::optional<Megahertz> running() = 0;  // empty if the device does not report it
  virtual void renew() = 0;                                      // the training makes progress
  virtual void put_back() = 0;                                   // restores what was found; throws an Error on failure
};

class ClockFollower {
 public:
  // Calls `drive` and locks the first instruction's clock at once. What an Error of either says becomes trouble().
  ClockFollower(std::vector<PipelineInstruction> instructions,
                const std::function<std::unique_ptr<DrivenClock>()>& drive, Clock& clock,
                const PipelineClocksOptions& options);
  ClockFollower(const ClockFollower&) = delete;
  ClockFollower& operator=(const ClockFollower&) = delete;
  ~ClockFollower();  // as close()

  void begin(std::string_view instruction);
  void end(std::string_view instruction);
  void end_iteration();

  [[nodiscard]] std::optional<Seconds> latency() const;
  [[nodiscard]] std::string trouble() const;
  void close();

 private:
  struct State;

  [[nodiscard]] bool is_ours() const;

  pid_t owner_;
  std::unique_ptr<State> state_;
};

}  // namespace zeus::pacing
