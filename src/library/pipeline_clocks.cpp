// Sets the clocks of this machine's GPUs under leases, following a pipeline plan.
#include "library/leased_clock.hpp"
#include "library/machine.hpp"
#include "pacing/clock_follower.hpp"

#include <zeus/pipeline.hpp>

#include <utility>

namespace zeus {

namespace {

std::unique_ptr<pacing::ClockFollower> follower_of(std::vector<PipelineInstruction> instructions,
                                                   const PipelineClocksOptions& options) {
  (void)library::numbered_gpu(options.gpu);
  return std::make_unique<pacing::ClockFollower>(
      std::move(instructions), [&options] { return std::make_unique<library::LeasedClock>(options.gpu); },
      library::this_machine().clock, options);
}

}  // namespace

PipelineClocks::PipelineClocks(std::vector<PipelineInstruction> instructions, const Options& options)
    : PipelineClocks{follower_of(std::move(instructions), options)} {
}

}  // namespace zeus
