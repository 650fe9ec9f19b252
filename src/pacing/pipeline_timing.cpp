#include "pacing/pipeline_timing.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::pacing {

namespace {

// For each instruction, the clock while it runs: its own, or else that of the last instruction before it that has one.
// Iterations repeat, so the search wraps around.
std::vector<Megahertz> clocks_in_force(const std::vector<PipelineInstruction>& instructions) {
  std::vector<Megahertz> clocks;
  clocks.reserve(instructions.size());
  Megahertz held{0};
  for (const PipelineInstruction& instruction : instructions) {
    if (instruction.frequency.value() > 0) {
      held = instruction.frequency;
    }
  }
  for (const PipelineInstruction& instruction : instructions) {
    if (instruction.frequency.value() > 0) {
      held = instruction.frequency;
    }
    clocks.push_back(held);
  }
  return clocks;
}

}  // namespace

PipelineTiming::PipelineTiming(std::vector<PipelineInstruction> instructions)
    : instructions_{std::move(instructions)}, clocks_{clocks_in_force(instructions_)}, gaps_(instructions_.size()) {
  if (instructions_.empty()) {
    throw Error{ErrorKind::invalid_argument, "a pipeline plan without instructions cannot be followed"};
  }
  for (const PipelineInstruction& instruction : instructions_) {
    if (!std::isfinite(instruction.frequency.value()) || instruction.frequency.value() < 0) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("the clock of instruction '{}' is {} MHz, which no GPU can be locked to",
                              instruction.name, instruction.frequency.value())};
    }
  }
}

void PipelineTiming::begin(std::string_view name, Instant now) {
  if (next_ == instructions_.size()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("instruction '{}' begins, but the plan's {} instructions of this iteration are over", name,
                            instructions_.size()),
                "call end_iteration() (on_step_end() in Python) after the last one"};
  }
  if (instructions_[next_].name != name) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("instruction '{}' begins where the plan has '{}' (number {} of {})", name,
                            instructions_[next_].name, next_ + 1, instructions_.size())};
  }
  if (latest_) {
    gaps_[*latest_].add(now - began_);
  }
  latest_ = next_++;
  began_ = now;
  ended_ = false;
}

void PipelineTiming::end(std::string_view name) {
  if (!latest_ || ended_ || instructions_[*latest_].name != name) {
    throw Error{ErrorKind::invalid_argument, fmt::format("instruction '{}' ends without having begun", name)};
  }
  ended_ = true;
}

void PipelineTiming::end_iteration() {
  if (next_ != instructions_.size()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the iteration ends after {} of the plan's {} instructions", next_, instructions_.size())};
  }
  next_ = 0;
  ended_ = true;
}

PipelineTiming::Wish PipelineTiming::wish(Instant now, Seconds lead) const {
  if (!latest_) {
    return {.clock = clocks_.front(), .until = std::nullopt};
  }
  Wish wish{.clock = clocks_[*latest_], .until = std::nullopt};
  // Clocks needed within `lead` are due now. The next faster clock after that decides when to look again.
  Instant begins = began_;
  std::size_t at = *latest_;
  for (std::size_t ahead = 1; ahead <= instructions_.size(); ++ahead) {
    const std::optional<Seconds> gap = gaps_[at].shortest();
    at = (at + 1) % instructions_.size();
    if (!gap) {
      // In the first iteration its beginning is unknown: it may follow as soon as its predecessor has ended.
      if (ahead == 1 && ended_) {
        wish.clock = std::max(wish.clock, clocks_[at]);
      }
      break;
    }
    begins = begins + *gap;
    if (clocks_[at] <= wish.clock) {
      continue;
    }
    const Instant due = begins - lead;
    if (due > now) {
      wish.until = due;
      break;
    }
    wish.clock = clocks_[at];
  }
  return wish;
}

void PipelineTiming::Gap::add(Seconds gap) {
  last_[count_ % last_.size()] = gap;
  ++count_;
}

std::optional<Seconds> PipelineTiming::Gap::shortest() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  return *std::min_element(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, last_.size())));
}

}  // namespace zeus::pacing
