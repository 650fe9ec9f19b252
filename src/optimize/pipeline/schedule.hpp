// The well-known schedules of an iteration through a pipeline, as computation graphs. Pure functions on plain values.
#pragma once

#include "optimize/pipeline/stage_profile.hpp"
#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::optimize::pipeline {

enum class Schedule {
  gpipe,  // all forwards, then all backwards
  one_forward_one_backward,
  interleaved,          // the same with several chunks of the model on each device
  early_recomputation,  // activations are recomputed while the device would wait for the gradient
  zero_bubble,          // the backward is split: first what the previous stage needs, later the gradient of the weights
};

std::string_view to_string(Schedule schedule);
std::optional<Schedule> schedule_from(std::string_view text);
std::span<const Schedule> all_schedules();

// The instructions that a profile must have for each stage, by the names that training loops use.
std::span<const std::string_view> instructions_of(Schedule schedule);

// Whether it computes the gradient for which the stage before waits.
bool is_gradient(std::string_view instruction);

struct PipelineShape {
  Schedule schedule = Schedule::one_forward_one_backward;
  std::size_t devices = 1;  // ranks of the pipeline
  std::size_t microbatches = 1;
  std::size_t chunks = 1;  // model chunks per device; above 1 only with `interleaved`
  std::size_t copies = 1;  // data- and tensor-parallel GPUs per rank
  Seconds transfer_time;   // to send activations or gradients from one stage to the next
};

// Stage s of `devices * chunks` runs on device s mod devices. Throws an invalid_argument Error that names the problem
// if a stage has no profile for an instruction of the schedule, if a profile is given twice, or if the schedule cannot
// run this shape.
records::ComputationGraph make_schedule(const PipelineShape& shape, std::span<const StageProfile> profiles);

// One computation of a rank, as a training was seen to run it.
struct ObservedStep {
  std::string instruction;  // as of instructions_of(); others wait only for what their rank runs before them
  std::size_t stage = 0;
  std::size_t microbatch = 0;
};

// An iteration whose ranks run these steps, each in its order. A forward waits for the same micro-batch's on the stage
// before, a gradient for that on the stage after. `profiles` has each step's stage and instruction. Throws an
// invalid_argument Error that names the rank if a step is there twice, has no profile or waits for one that no rank
// runs, and one as of check() if the orders contradict one another.
records::ComputationGraph observed_schedule(std::span<const std::vector<ObservedStep>> ranks, std::size_t copies,
                                            std::span<const StageProfile> profiles);

}  // namespace zeus::optimize::pipeline
