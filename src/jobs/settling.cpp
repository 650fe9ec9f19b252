#include "jobs/settling.hpp"

#include <algorithm>
#include <span>

namespace zeus::jobs {

namespace {

// The batch size of the only try of a recurrence that reached.
std::optional<int> at_once(const records::JobView& job, const records::RecurrenceView& recurrence) {
  const auto one = std::ranges::find(job.tries, recurrence.number, &records::TryView::recurrence);
  const bool reached = recurrence.state == records::RecurrenceState::reached && recurrence.tries == 1;
  return reached && one != job.tries.end() ? std::optional{one->batch_size} : std::nullopt;
}

bool is_believed_cheapest(const records::JobView& job, int batch_size) {
  const auto mine = std::ranges::find(job.arms, batch_size, &records::ArmView::batch_size);
  return mine != job.arms.end() && std::ranges::none_of(job.arms, [&](const records::ArmView& other) {
           return other.expected_cost && (!mine->expected_cost || *other.expected_cost < *mine->expected_cost);
         });
}

}  // namespace

std::optional<int> settled_on(const records::JobView& job) {
  std::span<const records::RecurrenceView> last = job.recurrences;
  if (last.size() < settled_recurrences) {
    return std::nullopt;
  }
  last = last.last(settled_recurrences);
  const std::optional<int> batch_size = at_once(job, last.front());
  const bool all_alike = batch_size && std::ranges::all_of(last, [&](const records::RecurrenceView& one) {
                           return at_once(job, one) == batch_size;
                         });
  const bool again = batch_size && job.next.kind != records::NextKind::give_up && job.next.batch_size == *batch_size;
  return all_alike && again && is_believed_cheapest(job, *batch_size) ? batch_size : std::nullopt;
}

}  // namespace zeus::jobs
