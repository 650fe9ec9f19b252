// Runs a training pipeline by a frequency plan (docs/pipeline.md): each computation runs at its own clock, which is
// already set when the computation starts.
//
//   zeus::PipelineClocks clocks{zeus::pipeline_stage("plan.json", stage), {.gpu = 0}};
//   for (auto& batch : batches) {
//     clocks.begin("forward");
//     forward(batch);
//     clocks.end("forward");
//     clocks.begin("backward");
//     backward(batch);
//     clocks.end("backward");
//     clocks.end_iteration();
//   }
//
// A thread of its own locks the clocks under a lease: a slower clock when its computation begins, a faster one ahead of
// time. How far ahead depends on how long the driver and the GPU took before, and on when computations began in earlier
// iterations. Under the same lease the power limit is the GPU's default (or the highest below it that a daemon's policy
// allows) and the memory clock its highest, so that only the plan decides how fast the GPU is. What was found is put
// back by close(), by the destructor, and however the process ends.
//
// Threads: one at a time calls begin(), end() and end_iteration(), right before and after each computation; any thread
// may call latency() and trouble(). Fork: in a forked child every call does nothing. Failures: the constructor throws
// for a GPU that is not there and for a plan that cannot be followed. If the GPU cannot be set, at first or later, the
// training goes on without the plan: trouble() says why, one warning is logged, and calls only check the order.
#pragma once

#include <zeus/export.hpp>
#include <zeus/units.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

namespace pacing {
class ClockFollower;
}  // namespace pacing

struct PipelineInstruction {
  std::string name = {};     // the argument of begin(): "forward"
  Megahertz frequency = {};  // to lock while it runs; 0 leaves the clock as it is
  friend bool operator==(const PipelineInstruction&, const PipelineInstruction&) = default;
};

// The instructions of pipeline rank `stage` in one iteration, from a file that `zeus pipeline --json` wrote with one
// plan. Errors name the file.
ZEUS_API std::vector<PipelineInstruction> pipeline_stage(const std::filesystem::path& plan, std::size_t stage);

struct PipelineClocksOptions {
  int gpu = 0;                       // number in the machine's list
  std::optional<Seconds> lead = {};  // how far ahead faster clocks are set; measured by default
  bool log_trouble = true;           // false if the caller reports trouble() itself
};

class ZEUS_API PipelineClocks {
 public:
  using Options = PipelineClocksOptions;

  // `instructions`: all instructions of one iteration, in order.
  explicit PipelineClocks(std::vector<PipelineInstruction> instructions, const Options& options = {});
  PipelineClocks(const PipelineClocks&) = delete;
  PipelineClocks& operator=(const PipelineClocks&) = delete;
  PipelineClocks(PipelineClocks&&) noexcept;
  PipelineClocks& operator=(PipelineClocks&&) noexcept;
  ~PipelineClocks();

  // An invalid_argument Error if the plan has another instruction next, or is used up.
  void begin(std::string_view instruction);
  void end(std::string_view instruction);
  // An invalid_argument Error if the plan has more instructions.
  void end_iteration();

  // The longest recent time between requesting a clock and having it; nothing until one was seen.
  [[nodiscard]] std::optional<Seconds> latency() const;
  // Why the plan is not followed, or what could not be put back; empty while all is well.
  [[nodiscard]] std::string trouble() const;
  // Puts back what was found. Later calls only check the order of instructions.
  void close();

 private:
  explicit PipelineClocks(std::unique_ptr<pacing::ClockFollower> follower);
  [[nodiscard]] pacing::ClockFollower& follower() const;

  std::unique_ptr<pacing::ClockFollower> follower_;  // null in a moved-from object
};

}  // namespace zeus
