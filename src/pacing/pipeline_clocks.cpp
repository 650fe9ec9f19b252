#include "base/file_tree.hpp"
#include "pacing/clock_follower.hpp"
#include "records/pipeline_plan.hpp"

#include <zeus/error.hpp>
#include <zeus/pipeline.hpp>

#include <fmt/format.h>

namespace zeus {

namespace {

records::PipelinePlan plan_in(std::string_view text, const std::string& file) {
  std::optional<Error> wrong;
  try {
    return records::pipeline_plan_from_json(text);
  } catch (const Error& error) {
    wrong = error;
  }
  // Thrown outside of the handler, so that the error with the file's name does not have itself as its cause.
  throw Error{wrong->kind(), fmt::format("{}: {}", file, wrong->message()), wrong->advice()};
}

}  // namespace

std::vector<PipelineInstruction> pipeline_stage(const std::filesystem::path& plan, std::size_t stage) {
  const std::optional<std::string> text = FileTree{}.read(std::filesystem::absolute(plan).string());
  if (!text) {
    throw Error{ErrorKind::not_found, fmt::format("there is no plan {}", plan.string()),
                "write one with `zeus pipeline --at T --json FILE`"};
  }
  const records::PipelinePlan whole = plan_in(*text, plan.string());
  if (stage >= whole.frequencies.size()) {
    throw Error{ErrorKind::not_found, fmt::format("{} has plans for {} pipeline ranks, and none for rank {}",
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

pacing::ClockFollower& PipelineClocks::follower() const {
  if (!follower_) {
    throw Error{ErrorKind::invalid_argument, "these PipelineClocks were moved from",
                "use the object that they were moved to"};
  }
  return *follower_;
}

void PipelineClocks::begin(std::string_view instruction) {
  follower().begin(instruction);
}
void PipelineClocks::end(std::string_view instruction) {
  follower().end(instruction);
}
void PipelineClocks::end_iteration() {
  follower().end_iteration();
}
std::optional<Seconds> PipelineClocks::latency() const {
  return follower().latency();
}
std::string PipelineClocks::trouble() const {
  return follower().trouble();
}
void PipelineClocks::close() {
  follower().close();
}

}  // namespace zeus
