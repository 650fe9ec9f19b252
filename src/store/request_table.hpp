// The effects of requests about whole jobs: creating a job, which the job records, and forgetting one, which leaves no
// entry. For sql_store.cpp, within its transactions. One thread at a time.
#pragma once

#include "records/job_entry.hpp"
#include "store/database.hpp"
#include "store/job_store.hpp"

#include <optional>
#include <string>

namespace zeus::store {

class RequestTable {
 public:
  explicit RequestTable(soci::session& session) : session_{session} {}

  // Whether the request made a job of that name, even one forgotten since.
  bool has_made(const std::string& name, const records::EntryRequest& request);
  // Whether the request forgot a job of that name. `job` is the current one, if any: a key on its record belongs to
  // another request.
  bool has_forgotten(const std::string& name, std::optional<JobId> job, const records::EntryRequest& request);
  // To be called before the job is removed: remembers the request that created it, and this one.
  void forget(JobId job, const std::string& name, const records::EntryRequest& request);

 private:
  // What the request with that key asked for, if it made or forgot a job that is gone.
  std::optional<std::string> find_past(const std::string& name, const std::string& key);
  std::optional<std::string> find_maker(const std::string& name, const std::string& key);
  void keep(const std::string& name, const records::EntryRequest& request);

  soci::session& session_;
};

}  // namespace zeus::store
