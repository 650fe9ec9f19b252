#include "run/job_records.hpp"

#include "store/open_store.hpp"

#include <optional>

namespace zeus::run {

namespace {

// A policy that nobody has named is the one that the job began with.
jobs::Job open_job(store::JobStore& store, const jobs::Site& site, const RunOptions& options,
                   const records::JobDevice& device) {
  if (options.policy.empty()) {
    if (std::optional<jobs::Job> known = jobs::Job::find(store, site, options.job)) {
      known->refresh();
      return jobs::Job::open(store, site, options.job, definition_of(options, device, &known->definition()));
    }
  }
  return jobs::Job::open(store, site, options.job, definition_of(options, device));
}

}  // namespace

JobRecords::JobRecords(const RunOptions& options, const records::JobDevice& device, const Place& place)
    : store{store::open_store(options.store.empty() ? store::default_store(place.environment).string() : options.store,
                              store::Access::create, place.clock)},
      site{jobs::this_site(place.clock, place.machine)},
      job{open_job(*store, site, options, device)},
      recurrence{job.begin(device)} {
}

}  // namespace zeus::run
