#include "run/stop_rule.hpp"

namespace zeus::run {

Verdict StopRule::after_epoch(int epochs, Joules cost, std::optional<Joules> next_epoch) const {
  // Without a target, it is the command's own end that tells whether it was reached.
  if (target && epochs >= max_epochs) {
    return Verdict::exhausted;
  }
  return budget && cost + next_epoch.value_or(Joules{}) > *budget ? Verdict::too_dear : Verdict::go_on;
}

Verdict StopRule::meanwhile(Joules cost) const {
  return budget && cost > *budget ? Verdict::too_dear : Verdict::go_on;
}

bool StopRule::reaches(double metric) const {
  return target && (target->higher_is_better ? metric >= target->metric : metric <= target->metric);
}

}  // namespace zeus::run
