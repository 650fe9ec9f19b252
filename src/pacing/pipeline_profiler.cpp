#include "pacing/instruction_profiler.hpp"

#include <zeus/error.hpp>
#include <zeus/pipeline.hpp>

#include <utility>

namespace zeus {

namespace {

pacing::InstructionProfiler& open_profiler(const std::unique_ptr<pacing::InstructionProfiler>& profiler) {
  if (!profiler) {
    throw Error{ErrorKind::invalid_argument, "this PipelineProfiler was moved from",
                "use the object that it was moved to"};
  }
  return *profiler;
}

}  // namespace

PipelineProfiler::PipelineProfiler(std::unique_ptr<pacing::InstructionProfiler> profiler)
    : profiler_{std::move(profiler)} {
}
PipelineProfiler::PipelineProfiler(PipelineProfiler&&) noexcept = default;
PipelineProfiler& PipelineProfiler::operator=(PipelineProfiler&&) noexcept = default;
PipelineProfiler::~PipelineProfiler() = default;

std::optional<Watts> PipelineProfiler::measure_blocking(const std::function<void()>& wait) {
  return open_profiler(profiler_).measure_blocking(wait);
}
void PipelineProfiler::measure(int stage, std::string_view instruction, const Work& work, std::string_view including) {
  open_profiler(profiler_).measure(stage, instruction, work, including);
}
void PipelineProfiler::measure_beside(int stage, std::string_view instruction, Megahertz clock, const Work& work,
                                      std::string_view including) {
  open_profiler(profiler_).measure_beside(stage, instruction, clock, work, including);
}
const std::vector<PipelineMeasurement>& PipelineProfiler::measurements() const {
  return open_profiler(profiler_).measurements();
}
std::string PipelineProfiler::trouble() const {
  return open_profiler(profiler_).trouble();
}
void PipelineProfiler::close() {
  open_profiler(profiler_).close();
}

}  // namespace zeus
