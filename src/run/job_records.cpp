#include "run/job_records.hpp"

#include "store/open_store.hpp"

namespace zeus::run {

JobRecords::JobRecords(const RunOptions& options, const records::JobDevice& device, const Place& place)
    : store{store::open_store(options.store.empty() ? store::default_store(place.environment).string() : options.store,
                              store::Access::create)},
      site{jobs::this_site(place.clock, place.machine)},
      job{jobs::Job::open(*store, site, options.job, definition_of(options, device))},
      recurrence{job.begin(device)} {
}

}  // namespace zeus::run
