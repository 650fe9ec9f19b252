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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

namespace pacing {
class ClockFollower;
class InstructionProfiler;
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

// Measures what each instruction of a stage takes at each clock, alone and back to back before training: for the
// counters of GPUs, which move every 20 to 100 ms, an instruction among others is too short (docs/pipeline.md).
//
//   zeus::PipelineProfiler profiler{{.gpu = 0}};
//   profiler.measure_blocking([] { receive(); });
//   profiler.measure(stage, "forward", [](int times) { forwards(times); });
//   profiler.measure(stage, "backward", [](int times) { forwards_and_backwards(times); }, "forward");
//
// It sets clocks under a lease, at the power limit and memory clock of PipelineClocks; close(), the destructor, and the
// end of the process put back what was found. Threads: one at a time. Failures: the constructor throws for a GPU that
// is not there. If the GPU cannot be set or measured, at first or later, trouble() says why, and calls return without
// doing anything. What the caller's work throws passes through.
struct PipelineMeasurement {
  int stage = 0;
  std::string instruction = {};
  Megahertz frequency = {};
  Seconds time = {};              // of one run
  Seconds time_uncertainty = {};  // half-widths of 95 % intervals
  Joules energy = {};
  Joules energy_uncertainty = {};
};

struct PipelineProfilerOptions {
  int gpu = 0;                     // number in the machine's list
  Seconds window = Seconds{0.25};  // how long an instruction is repeated at each clock, at least
};

class ZEUS_API PipelineProfiler {
 public:
  using Options = PipelineProfilerOptions;
  // Runs an instruction so many times, and waits until the GPU has done so.
  using Work = std::function<void(int times)>;

  explicit PipelineProfiler(const Options& options = {});
  PipelineProfiler(const PipelineProfiler&) = delete;
  PipelineProfiler& operator=(const PipelineProfiler&) = delete;
  PipelineProfiler(PipelineProfiler&&) noexcept;
  PipelineProfiler& operator=(PipelineProfiler&&) noexcept;
  ~PipelineProfiler();

  // What the GPU draws while `wait` runs, which blocks on a neighbour for as long as a window; nothing if its energy is
  // unknown, and after trouble.
  std::optional<Watts> measure_blocking(const std::function<void()>& wait);
  // At clocks in wide steps, from the highest down, until slower ones no longer save energy. If each run of `work` also
  // runs an instruction of this stage that was measured before, `including` names it, and its part is subtracted. What
  // a window leaves unknown is measured again in longer ones, with its part: `work` may be called until close().
  void measure(int stage, std::string_view instruction, const Work& work, std::string_view including = {});
  // At those clocks that lie halfway between this one and the measured ones beside it.
  void measure_beside(int stage, std::string_view instruction, Megahertz clock, const Work& work,
                      std::string_view including = {});

  // In the order of measuring.
  [[nodiscard]] const std::vector<PipelineMeasurement>& measurements() const;
  [[nodiscard]] std::string trouble() const;
  void close();

 private:
  explicit PipelineProfiler(std::unique_ptr<pacing::InstructionProfiler> profiler);

  std::unique_ptr<pacing::InstructionProfiler> profiler_;  // null in a moved-from object
};

struct PipelineStep {
  std::string instruction = {};
  int stage = 0;
  int microbatch = 0;
};

// What a rank of the pipeline contributes to a plan.
struct PipelineRank {
  std::vector<PipelineStep> steps = {};  // all that it runs in one iteration, in order
  std::vector<PipelineMeasurement> measurements = {};
};

struct PipelinePlanOptions {
  Watts blocking_power = {};  // of a GPU that waits for its neighbours
  int copies = 1;             // GPUs that do each rank's work alike
  double max_slowdown = 1.0;  // an iteration takes at most so many times as long as the fastest one
};

struct PlannedPipeline {
  Seconds time = {};          // of an iteration under the plan
  Joules energy = {};         // of all GPUs in it, including blocking
  Seconds fastest_time = {};  // the same with each instruction at its fastest clock
  Joules fastest_energy = {};
  std::vector<std::vector<PipelineInstruction>> ranks = {};
};

// The plan of least energy for the steps that the ranks were seen to run: a forward waits for the same micro-batch's on
// the stage before, a "backward" ("forward_backward", "backward_input") for that on the stage after, and any other
// instruction only for what its rank runs before it. A pure function; any thread. Ranks that contradict one another,
// and measurements that are not numbers, are an invalid_argument Error that names the rank.
ZEUS_API PlannedPipeline plan_pipeline(const std::vector<PipelineRank>& ranks, const PipelinePlanOptions& options);

}  // namespace zeus
