// When to ask for which clock along a pipeline plan. It learns from when the computations began in earlier iterations.
// Pure; one owner, one thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/pipeline.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::pacing {

class PipelineTiming {
 public:
  // Needs at least one instruction, and no clock below 0; otherwise throws an invalid_argument Error.
  explicit PipelineTiming(std::vector<PipelineInstruction> instructions);

  // Reports events as they happen. Throws an invalid_argument Error for an event out of order, and then changes
  // nothing.
  void begin(std::string_view name, Instant now);
  void end(std::string_view name);
  void end_iteration();

  struct Wish {
    Megahertz clock;               // to ask for now; 0 if the plan names none
    std::optional<Instant> until;  // when to look again even if nothing has happened
  };
  // `lead`: how long a change of clock takes.
  [[nodiscard]] Wish wish(Instant now, Seconds lead) const;

 private:
  // The time from one beginning to the next: the shortest recent one, so that a faster clock comes too early rather
  // than too late.
  class Gap {
   public:
    void add(Seconds gap);
    [[nodiscard]] std::optional<Seconds> shortest() const;

   private:
    std::array<Seconds, 4> last_{};
    std::size_t count_ = 0;
  };

  std::vector<PipelineInstruction> instructions_;
  std::vector<Megahertz> clocks_;  // in force while each instruction runs
  std::vector<Gap> gaps_;          // from each instruction to the next
  std::size_t next_ = 0;           // in this iteration
  std::optional<std::size_t> latest_;
  Instant began_;
  bool ended_ = false;  // whether the latest instruction has ended
};

}  // namespace zeus::pacing
