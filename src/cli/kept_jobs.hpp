// Where `zeus jobs` finds and changes jobs: a store that it opens, or a server. Errors are those of the store or the
// server. One thread; the arguments outlive it.
#pragma once

#include "cli/command.hpp"
#include "protocol/jobs_api.hpp"
#include "records/job_definition.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"
#include "store/open_store.hpp"

#include <zeus/error.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zeus::cli {

class KeptJobs {
 public:
  KeptJobs() = default;
  KeptJobs(const KeptJobs&) = delete;
  KeptJobs& operator=(const KeptJobs&) = delete;
  virtual ~KeptJobs() = default;

  // For people to read: without a password.
  [[nodiscard]] virtual std::string location() const = 0;
  // In the order of their names. Calls `left_out` for a job that cannot be read.
  using LeftOut = std::function<void(const std::string& name, const Error& error)>;
  virtual std::vector<records::JobSummary> summaries(const LeftOut& left_out) = 0;
  // Each of these throws a not_found Error if there is no such job.
  virtual records::JobView view(const std::string& job) = 0;
  virtual records::JobDefinition definition(const std::string& job) = 0;
  virtual std::string exported(const std::string& job) = 0;
  virtual std::vector<protocol::ReportedChange> redefine(const std::string& job,
                                                         const records::JobDefinition& definition) = 0;
  // Checks the name alone, so it is also true for a job that cannot be read.
  virtual bool has(const std::string& job) = 0;
  virtual void forget(const std::string& job) = 0;
  virtual protocol::ImportedJob import(const std::string& job, const std::string& text) = 0;
};

// Opens a store.
std::unique_ptr<KeptJobs> stored_jobs(const Context& context, const std::string& location, store::Access access);
// A store that does not exist yet: no jobs.
std::unique_ptr<KeptJobs> no_jobs(const Context& context, const std::string& location);
// Asks a server, by its address.
std::unique_ptr<KeptJobs> served_jobs(const Context& context, const std::string& server);

}  // namespace zeus::cli
