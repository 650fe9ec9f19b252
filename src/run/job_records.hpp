// Where a run's job is recorded, and the recurrence that was begun there. One thread; the arguments outlive it.
#pragma once

#include "jobs/recurrence_link.hpp"
#include "records/job_definition.hpp"
#include "records/job_view.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"

#include <cstdint>
#include <memory>

namespace zeus::run {

class JobRecords {
 public:
  JobRecords() = default;
  JobRecords(const JobRecords&) = delete;
  JobRecords& operator=(const JobRecords&) = delete;
  virtual ~JobRecords() = default;

  [[nodiscard]] virtual std::uint64_t number() const = 0;  // of the recurrence, from 0
  // Call it once; the result does not outlive this object.
  virtual std::unique_ptr<jobs::RecurrenceLink> take_recurrence() = 0;
  // The job with only this recurrence and its tries, as recorded so far.
  virtual records::JobView recurrence_view() = 0;
};

// Removes all but the recurrence with this number, counted from 1, and its tries.
void keep_alone(records::JobView& view, std::uint64_t recurrence);

// Opens the store that the options name. Throws the store's errors, and those of a job that was defined differently or
// has an impossible name.
std::unique_ptr<JobRecords> open_stored_records(const RunOptions& options, const records::JobDevice& device,
                                                const Place& place);

}  // namespace zeus::run
