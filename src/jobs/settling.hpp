// Whether a job has settled: a judgement of its policy, which is withdrawn when it no longer holds. Pure; any thread.
#pragma once

#include "optimize/recurrence/recurring_job.hpp"
#include "records/job_view.hpp"

#include <cstddef>
#include <optional>

namespace zeus::jobs {

// So many recurrences in a row.
inline constexpr std::size_t settled_recurrences = 5;
// So many more, each like the longest of those, would not make the policy run another batch size.
inline constexpr std::uint64_t borne_recurrences = 2;

// The batch size that a job has settled on: its last recurrences each reached the target with it in a single try, the
// policy believes no other to be cheaper, and would run it next, even after `borne_recurrences` bad ones. Nothing if
// one of these is not so. `deciding` is the job that `view` shows. Of drawn jobs that do not change, nine of ten settle
// within 40 recurrences, and 19 of 20 of the following ones run that batch size (tests/jobs/settling_test.cpp).
std::optional<int> settled_on(const records::JobView& view, const optimize::RecurringJob& deciding);

}  // namespace zeus::jobs
