// When a try is over, though its command may not be: it has reached its target, used up its epochs, or costs too much
// (section 4.4 of the NSDI'23 paper). A pure value.
#pragma once

#include "records/job_definition.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::run {

enum class Verdict {
  go_on,
  reached,    // the target
  exhausted,  // it is short of the target after its most epochs
  too_dear,   // its cost is above the budget, or would be after another epoch
};

struct StopRule {
  std::optional<records::JobTarget> target;
  int max_epochs = 0;
  std::optional<Joules> budget;  // of cost

  // After an epoch has ended; `next_epoch` is what another one is expected to cost.
  [[nodiscard]] Verdict after_epoch(int epochs, Joules cost, std::optional<Joules> next_epoch) const;
  // At any time. NaN reaches no target.
  [[nodiscard]] Verdict meanwhile(Joules cost) const;
  [[nodiscard]] bool reaches(double metric) const;
};

}  // namespace zeus::run
