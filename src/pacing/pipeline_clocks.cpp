#include "base/file_tree.hpp"
#include "pacing/clock_follower.hpp"
#include "records/pipeline_plan.hpp"

#include <zeus/error.hpp>
#include <zeus/pipeline.hpp>

#include <fmt/format.h>

namespace zeus {

std::vector<PipelineInstruction> pipeline_stage(const std::filesystem::path& plan, std::size_t stage) {
  const std::optional<std::string> text = FileTree{}.read(std::filesystem::absolute(plan).string());
  if (!text) {
    throw Error{ErrorKind::not_found, fmt::format("there is no plan {}", plan.string()),
                "write one with `zeus pipeline --at T --json FILE`"};
  }
  records::PipelinePlan whole;
  try {
    whole = records::pipeline_plan_from_json(*text);
  } catch (const Error& error) {
    throw Error{error.kind(), fmt::format("{}: {}", plan.string(), error.what()), error.advice()};
  }
  if (stage >= whole.frequencies.size()) {
    throw Error{ErrorKind::not_found, fmt::format("{} plans for {} pipeline ranks, and none of them is {}",
                                                  plan.string(), whole.frequencies.size(), stage)};
  }
  std::vector<PipelineInstruction> instructions;
  for (const records::PlannedInstruction& planned : whole.frequencies[stage]) {
    instructions.push_back({.name = planned.name, .frequency = planned.frequency});
  }
  return instructions;
}

PipelineClocks::PipelineClocks(std::unique_ptr<pacing::ClockFollower> follower) : follower_{std::move(follower)} {
}
PipelineClocks::PipelineClocks(PipelineClocks&&) noexcept = default;
PipelineClocks& PipelineClocks::operator=(PipelineClocks&&) noexcept = default;
PipelineClocks::~PipelineClocks() = default;

void PipelineClocks::begin(std::string_view instruction) {
  follower_->begin(instruction);
}
void PipelineClocks::end(std::string_view instruction) {
  follower_->end(instruction);
}
void PipelineClocks::end_iteration() {
  follower_->end_iteration();
}
std::optional<Seconds> PipelineClocks::latency() const {
  return follower_->latency();
}
std::string PipelineClocks::trouble() const {
  return follower_->trouble();
}
void PipelineClocks::close() {
  follower_->close();
}

}  // namespace zeus
