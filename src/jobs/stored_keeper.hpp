// Jobs that this process keeps in a store. The clock outlives the keeper.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "jobs/keeper.hpp"
#include "store/open_store.hpp"

#include <memory>
#include <string>

namespace zeus::jobs {

// Opens the store. `machine` has the /proc that shows which owners are alive.
std::unique_ptr<Keeper> stored_keeper(const std::string& location, store::Access access, Clock& clock,
                                      const FileTree& machine);
// A store that does not exist yet: no jobs.
std::unique_ptr<Keeper> empty_keeper(const std::string& location, Clock& clock, const FileTree& machine);

}  // namespace zeus::jobs
