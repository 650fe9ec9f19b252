// When to ask for which clock along a pipeline plan: learned from when its computations began in the iterations before.
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
  // At least one instruction, none with a clock below 0; anything else is an invalid_argument Error.
  explicit PipelineTiming(std::vector<PipelineInstruction> instructions);

  // What happens, as it happens. An invalid_argument Error when it is not what comes next; nothing has changed then.
  void begin(std::string_view name, Instant now);
  void end(std::string_view name);
  void end_iteration();

  struct Wish {
    Megahertz clock;               // to ask for now; 0 when the plan names none
    std::optional<Instant> until;  // when to look again although nothing has happened
  };
  // `lead`: how long a clock takes to change.
  [[nodiscard]] Wish wish(Instant now, Seconds lead) const;

 private:
  // From one beginning to the next: the shortest of late, so that a faster clock is there too early rather than too
  // late.
  class Gap {
   public:
    void add(Seconds gap);
    [[nodiscard]] std::optional<Seconds> shortest() const;

   private:
    std::array<Seconds, 4> last_{};
    std::size_t count_ = 0;
  };

  std::vector<PipelineInstruction> instructions_;
  std::vector<Megahertz> clocks_;  // the one in force while each runs
  std::vector<Gap> gaps_;          // from each to its successor
  std::size_t next_ = 0;           // of this iteration
  std::optional<std::size_t> latest_;
  Instant began_;
  bool ended_ = false;  // the latest one has
};

}  // namespace zeus::pacing
