// The thread that sets the clocks of a pipeline plan, so that the training never waits for the driver.
//
// Threads: as zeus::PipelineClocks, whose working part this is. Ownership: it owns what it drives and its thread; the
// Clock outlives it. Fork: in a forked child, which has no such thread, nothing is done.
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

// One GPU's clock, as the follower drives it: by its thread only, and by the constructor's before there is one.
class DrivenClock {
 public:
  DrivenClock() = default;
  DrivenClock(const DrivenClock&) = delete;
  DrivenClock& operator=(const DrivenClock&) = delete;
  virtual ~DrivenClock() = default;

  virtual void lock(Megahertz clock) = 0;                        // an Error when the device will not
  [[nodiscard]] virtual std::optional<Megahertz> running() = 0;  // nothing when it does not tell
  virtual void renew() = 0;                                      // says that the training makes progress
  virtual void put_back() = 0;                                   // what was found; an Error when that fails
};

class ClockFollower {
 public:
  // Locks the first instruction's clock at once; what that throws is the caller's.
  ClockFollower(std::vector<PipelineInstruction> instructions, std::unique_ptr<DrivenClock> driven, Clock& clock,
                std::optional<Seconds> lead);
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
