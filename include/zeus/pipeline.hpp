// Running a training pipeline by a frequency plan (docs/pipeline.md): every computation at its clock, and the clock
// there when it starts.
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
// Clocks are locked under a lease by a thread of its own: a slower one when its computation begins, a faster one so far
// ahead as the driver and the GPU were seen to need, by when computations began in the iterations before. What was
// found is put back by close(), by the destructor, and however the process ends.
//
// Threads: one at a time calls begin(), end() and end_iteration(), right before and after each computation; latency()
// and trouble() any. Fork: in a forked child every call does nothing. Failures: the constructor throws when the GPU
// cannot be leased or its clock cannot be locked; later ones end the following of the plan, are said once as a warning,
// and never thrown.
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
  std::string name = {};     // what begin() is told: "forward"
  Megahertz frequency = {};  // to lock while it runs; 0 leaves the clock as it is
  friend bool operator==(const PipelineInstruction&, const PipelineInstruction&) = default;
};

// What pipeline rank `stage` runs in one iteration, from a file that `zeus pipeline --json` wrote with one plan. Errors
// name the file.
ZEUS_API std::vector<PipelineInstruction> pipeline_stage(const std::filesystem::path& plan, std::size_t stage);

struct PipelineClocksOptions {
  int gpu = 0;                       // of the machine's list
  std::optional<Seconds> lead = {};  // how far ahead faster clocks are asked for; as measured without
};

class ZEUS_API PipelineClocks {
 public:
  using Options = PipelineClocksOptions;

  // `instructions`: all of one iteration, in order.
  explicit PipelineClocks(std::vector<PipelineInstruction> instructions, const Options& options = {});
  PipelineClocks(const PipelineClocks&) = delete;
  PipelineClocks& operator=(const PipelineClocks&) = delete;
  PipelineClocks(PipelineClocks&&) noexcept;
  PipelineClocks& operator=(PipelineClocks&&) noexcept;
  ~PipelineClocks();

  // An invalid_argument Error when it is not what the plan has next, or when the plan is used up.
  void begin(std::string_view instruction);
  void end(std::string_view instruction);
  // An invalid_argument Error when the plan has more.
  void end_iteration();

  // From asking for a clock to having it: the longest of late, nothing as long as none was seen.
  [[nodiscard]] std::optional<Seconds> latency() const;
  // Why the plan is not followed any more; empty while it is.
  [[nodiscard]] std::string trouble() const;
  // Puts back what was found. Further calls only check the order of instructions.
  void close();

 private:
  explicit PipelineClocks(std::unique_ptr<pacing::ClockFollower> follower);
  [[nodiscard]] pacing::ClockFollower& follower() const;

  std::unique_ptr<pacing::ClockFollower> follower_;  // null in a moved-from object
};

}  // namespace zeus
