#include "jobs/settling.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

namespace zeus::jobs {

namespace {

// The only try of a recurrence that reached.
const records::TryView* at_once(const records::JobView& view, const records::RecurrenceView& recurrence) {
  const auto one = std::ranges::find(view.tries, recurrence.number, &records::TryView::recurrence);
  const bool reached = recurrence.state == records::RecurrenceState::reached && recurrence.tries == 1;
  return reached && one != view.tries.end() ? &*one : nullptr;
}

// The one of the last tries with the most epochs, if they are all of one batch size.
const records::TryView* longest_of_the_same(const records::JobView& view) {
  if (view.recurrences.size() < settled_recurrences) {
    return nullptr;
  }
  const records::TryView* longest = nullptr;
  for (const records::RecurrenceView& recurrence : std::span{view.recurrences}.last(settled_recurrences)) {
    const records::TryView* const one = at_once(view, recurrence);
    if (one == nullptr || (longest != nullptr && longest->batch_size != one->batch_size)) {
      return nullptr;
    }
    if (longest == nullptr || one->epochs > longest->epochs) {
      longest = one;
    }
  }
  return longest;
}

bool is_believed_cheapest(const records::JobView& view, int batch_size) {
  const auto mine = std::ranges::find(view.arms, batch_size, &records::ArmView::batch_size);
  return mine != view.arms.end() && std::ranges::none_of(view.arms, [&](const records::ArmView& other) {
           return other.expected_cost && (!mine->expected_cost || *other.expected_cost < *mine->expected_cost);
         });
}

// Whether its batch size is next, and still after more tries like it.
bool bears(optimize::RecurringJob deciding, std::uint64_t recurrence, std::uint64_t number,
           const records::TryView& longest) {
  for (std::uint64_t more = 0; more <= borne_recurrences; ++more) {
    const optimize::Action action = deciding.next(recurrence + more, number + more);
    const auto* const plan = std::get_if<records::TryPlan>(&action);
    if (plan == nullptr || plan->batch_size != longest.batch_size) {
      return false;
    }
    deciding.apply(records::TrySubmitted{.try_number = number + more, .recurrence = recurrence + more, .plan = *plan});
    deciding.apply(records::TryEnded{.try_number = number + more,
                                     .recurrence = recurrence + more,
                                     .batch_size = longest.batch_size,
                                     .outcome = records::TryOutcome::reached,
                                     .epochs = longest.epochs,
                                     .energy = longest.energy ? longest.energy->value : Joules{},
                                     .time = longest.time.value_or(Seconds{})});
  }
  return true;
}

}  // namespace

std::optional<int> settled_on(const records::JobView& view, const optimize::RecurringJob& deciding) {
  const records::TryView* const longest = longest_of_the_same(view);
  if (longest == nullptr || !is_believed_cheapest(view, longest->batch_size) ||
      !bears(deciding, view.recurrences.back().number, view.tries.back().number, *longest)) {
    return std::nullopt;
  }
  return longest->batch_size;
}

}  // namespace zeus::jobs
