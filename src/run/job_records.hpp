// Where a run's job is recorded, and the recurrence begun there. One thread; what it is given outlives it.
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
  // To be taken once; it does not outlive this.
  virtual std::unique_ptr<jobs::RecurrenceLink> take_recurrence() = 0;
  // The job with this recurrence and its tries alone, as they are on record now.
  virtual records::JobView recurrence_view() = 0;
};

// Leaves the recurrence of that number, from 1, and its tries.
void keep_alone(records::JobView& view, std::uint64_t recurrence);

// In the store that the options name. Errors are those of the store, of a job that was defined differently, and of a
// name that no job can have.
std::unique_ptr<JobRecords> open_stored_records(const RunOptions& options, const records::JobDevice& device,
                                                const Place& place);

}  // namespace zeus::run
