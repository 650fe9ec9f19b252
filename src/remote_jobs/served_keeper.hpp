// Jobs that a server keeps, with `zeus serve`. The clock outlives the keeper.
#pragma once

#include "base/clock.hpp"
#include "jobs/keeper.hpp"
#include "records/job_definition.hpp"
#include "remote_jobs/remote_recurrence.hpp"

#include <memory>

namespace zeus::remote_jobs {

// `owner` is that of the recurrences begun here. A call throws unavailable or timeout if the server does not answer.
std::unique_ptr<jobs::Keeper> served_keeper(RemotePlan plan, records::JobOwner owner, Clock& clock);

}  // namespace zeus::remote_jobs
