// Where jobs are kept: in a store that this process opens (jobs/stored_keeper.hpp), or by a server
// (remote_jobs/served_keeper.hpp). `zeus run`, `zeus jobs` and zeus::Job know jobs in this way alone. Errors are those
// of the store or the server. One thread; it outlives the recurrences that it began.
#pragma once

#include "jobs/recurrence_link.hpp"
#include "records/job_definition.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"

#include <zeus/error.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::jobs {

class Keeper {
 public:
  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  virtual ~Keeper() = default;

  // For people to read: without a password.
  [[nodiscard]] virtual std::string location() const = 0;

  // The definition as it is now; nothing if there is no such job.
  virtual std::optional<records::JobDefinition> find(const std::string& job) = 0;
  // Creates the job, or checks that it has this definition: otherwise a conflict Error with the differences. No
  // recurrence of it may run here.
  virtual void define(const std::string& job, const records::JobDefinition& definition) = 0;
  // Begins a recurrence of an existing job.
  virtual std::unique_ptr<RecurrenceLink> begin(const std::string& job, const records::JobDevice& device) = 0;

  // Each of these throws a not_found Error if there is no such job.
  virtual records::JobView view(const std::string& job) = 0;
  // With this recurrence alone, by its number from 1, and its tries.
  virtual records::JobView view_of_recurrence(const std::string& job, std::uint64_t recurrence) = 0;
  virtual std::string exported(const std::string& job) = 0;
  virtual std::vector<records::ReportedChange> redefine(const std::string& job,
                                                        const records::JobDefinition& definition) = 0;
  // Leaves a recurrence out for good, by its number from 1.
  virtual void leave_out(const std::string& job, std::uint64_t recurrence, const std::string& reason) = 0;
  virtual void forget(const std::string& job) = 0;

  // In the order of their names. Calls `left_out` for a job that cannot be read.
  using LeftOut = std::function<void(const std::string& name, const Error& error)>;
  virtual std::vector<records::JobSummary> summaries(const LeftOut& left_out) = 0;
  // Checks the name alone, so it is also true for a job that cannot be read.
  virtual bool has(const std::string& job) = 0;
  // Imports what exported() wrote; returns the number of its entries.
  virtual std::uint64_t import(const std::string& job, const std::string& text) = 0;
};

Error no_job(const std::string& job);

// Removes all but the recurrence with this number, from 1, and its tries.
void keep_alone(records::JobView& view, std::uint64_t recurrence);

}  // namespace zeus::jobs
