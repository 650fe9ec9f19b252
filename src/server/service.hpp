// What operations work with: the store, the open jobs, and the identity of this server. Shared by all workers; what it
// refers to must outlive it.
#pragma once

#include "jobs/job.hpp"
#include "server/open_jobs.hpp"
#include "store/job_store.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace zeus::server {

class EventHub;
class PipelineDesk;

struct Service {
  store::JobStore& store;
  const jobs::Site& site;
  OpenJobs& jobs;
  EventHub& events;
  std::string version;
  std::string instance;                   // differs at every start of a server
  bool tokens = false;                    // whether tokens are required
  std::uint64_t jobs_of_a_user = 10'000;  // the most that one user may have
  std::string openapi = {};               // the document as sent
  std::function<std::string()> metrics = {};
  PipelineDesk* pipelines = nullptr;  // null without a plan
};

}  // namespace zeus::server
