// Where `zeus jobs` finds jobs and changes them: a store that it opens, or a server. Errors are those of the store, or
// of the server. One thread; what it is given outlives it.
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

  // For people: without a password.
  [[nodiscard]] virtual std::string location() const = 0;
  // By name. One that cannot be read is told to `left_out`.
  using LeftOut = std::function<void(const std::string& name, const Error& error)>;
  virtual std::vector<records::JobSummary> summaries(const LeftOut& left_out) = 0;
  // Of one that is not there each of these throws a not_found Error.
  virtual records::JobView view(const std::string& job) = 0;
  virtual records::JobDefinition definition(const std::string& job) = 0;
  virtual std::string exported(const std::string& job) = 0;
  virtual std::vector<protocol::ToldChange> redefine(const std::string& job,
                                                     const records::JobDefinition& definition) = 0;
  // By its name alone: one that cannot be read is there as well.
  virtual bool has(const std::string& job) = 0;
  virtual void forget(const std::string& job) = 0;
  virtual protocol::ImportedJob import(const std::string& job, const std::string& text) = 0;
};

// A store.
std::unique_ptr<KeptJobs> stored_jobs(const Context& context, const std::string& location, store::Access access);
// One that is not there yet: without a job.
std::unique_ptr<KeptJobs> no_jobs(const Context& context, const std::string& location);
// A server, by its address.
std::unique_ptr<KeptJobs> served_jobs(const Context& context, const std::string& server);

}  // namespace zeus::cli
