// What operations work with: the store, the open jobs, who and where we are. Shared by all workers; what it refers to
// outlives it.
#pragma once

#include "jobs/job.hpp"
#include "server/open_jobs.hpp"
#include "store/job_store.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace zeus::server {

class EventHub;

struct Service {
  store::JobStore& store;
  const jobs::Site& site;
  OpenJobs& jobs;
  EventHub& events;
  std::string version;
  std::string instance;                   // told from every other start of a server by it
  bool tokens = false;                    // whether one is asked for
  std::uint64_t jobs_of_a_user = 10'000;  // that one user may have at most
  std::string openapi = {};               // the document, as it is sent
  std::function<std::string()> metrics = {};
};

}  // namespace zeus::server
