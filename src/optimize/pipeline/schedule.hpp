// The well-known ways to run an iteration through a pipeline, as computation graphs. Pure functions on plain values.
#pragma once

#include "optimize/pipeline/stage_profile.hpp"
#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace zeus::optimize::pipeline {

enum class Schedule {
  gpipe,  // all forwards, then all backwards
  one_forward_one_backward,
  interleaved,          // the same with several chunks of the model on each device
  early_recomputation,  // activations are recomputed while the device would wait for the gradient
  zero_bubble,          // the backward is split: what the previous stage needs first, the weights' gradient later
};

std::string_view to_string(Schedule schedule);
std::optional<Schedule> schedule_from(std::string_view text);
std::span<const Schedule> all_schedules();

// What the profile of a schedule must hold for each stage, by the names training loops use.
std::span<const std::string_view> instructions_of(Schedule schedule);

struct PipelineShape {
  Schedule schedule = Schedule::one_forward_one_backward;
  std::size_t devices = 1;  // pipeline ranks
  std::size_t microbatches = 1;
  std::size_t chunks = 1;  // model chunks per device; more than 1 only with `interleaved`
  std::size_t copies = 1;  // data- and tensor-parallel GPUs per rank
  Seconds transfer_time;   // of activations or gradients from one stage to the next
};

// Stage s of `devices * chunks` runs on device s mod devices. A stage without a profile for an instruction of the
// schedule, a profile given twice, and a shape the schedule cannot run are invalid_argument Errors that say which.
records::ComputationGraph make_schedule(const PipelineShape& shape, std::span<const StageProfile> profiles);

}  // namespace zeus::optimize::pipeline
