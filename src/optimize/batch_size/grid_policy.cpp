#include "optimize/batch_size/grid_policy.hpp"

#include <algorithm>

namespace zeus::optimize {

GridPolicy::GridPolicy(const JobSpec& spec)
    : spec_{spec}, limits_{spec.power_limits.rbegin(), spec.power_limits.rend()}, pruned_(spec.arms(), false) {
  order_.push_back(spec.default_arm());
  for (std::size_t arm = 0; arm < spec.arms(); ++arm) {
    if (arm != spec.default_arm()) {
      order_.push_back(arm);
    }
  }
}

std::size_t GridPolicy::next_cell() const {
  std::size_t cell = visited_;
  while (cell < order_.size() * limits_.size() && pruned_[arm_of_cell(cell)]) {
    ++cell;
  }
  return cell;
}

// New limits make a new grid, which is searched from the start. A batch size that failed under the old limits stays
// out.
void GridPolicy::move_to(const records::DeviceChanged& changed) {
  if (changed.power_limits.empty()) {
    return;
  }
  limits_.assign(changed.power_limits.rbegin(), changed.power_limits.rend());
  visited_ = 0;
  running_.clear();
  best_cell_.reset();
}

void GridPolicy::apply(const records::JobEvent& event, const ProfileBook& profiles) {
  if (const auto* submitted = std::get_if<records::TrySubmitted>(&event)) {
    const std::size_t cell = next_cell();
    const bool exploring = submitted->plan.purpose == records::TryPurpose::explore;
    running_.push_back({submitted->try_number, exploring ? cell : best_cell_.value_or(0)});
    if (exploring) {
      visited_ = cell + 1;
    }
    return;
  }
  if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    move_to(*changed);
    return;
  }
  const auto* ended = std::get_if<records::TryEnded>(&event);
  if (ended == nullptr) {
    return;
  }
  const auto running = std::ranges::find(running_, ended->try_number, &Running::try_number);
  if (running == running_.end()) {
    return;
  }
  const std::size_t cell = running->cell;
  running_.erase(running);
  const Joules cost = profiles.cost().of(ended->energy, ended->time);
  if (reached(ended->outcome)) {
    if (!best_cell_ || cost < best_cost_) {
      best_cell_ = cell;
      best_cost_ = cost;
    }
  } else if (ended->outcome != records::TryOutcome::lost && best_cell_ &&
             arm_of_cell(*best_cell_) != arm_of_cell(cell)) {
    pruned_[arm_of_cell(cell)] = true;
  }
}

Decision GridPolicy::decide(const Question&, const ProfileBook&) const {
  const std::size_t cell = next_cell();
  const bool exploring = cell < order_.size() * limits_.size();
  const std::size_t chosen = exploring ? cell : best_cell_.value_or(0);
  return RunTry{.arm = arm_of_cell(chosen),
                .limit = limits_[chosen % limits_.size()],
                .max_epochs = {},
                .purpose = exploring ? records::TryPurpose::explore : records::TryPurpose::exploit};
}

}  // namespace zeus::optimize
