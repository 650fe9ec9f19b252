// What requests about whole jobs have done: that made a job, which the job knows, and that forgot one, which leaves no
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

  // Of those that made a job of that name, also one that was forgotten since.
  bool has_made(const std::string& name, const records::EntryRequest& request);
  // Of those that forgot a job of that name. `job` is the one that there is, if any: a key that it knows is another's.
  bool has_forgotten(const std::string& name, std::optional<JobId> job, const records::EntryRequest& request);
  // Before the job is removed: what had it made is remembered, and this request.
  void forget(JobId job, const std::string& name, const records::EntryRequest& request);

 private:
  // What was asked for with that key, by a request that made or forgot a job which is gone.
  std::optional<std::string> find_past(const std::string& name, const std::string& key);
  std::optional<std::string> find_maker(const std::string& name, const std::string& key);
  void keep(const std::string& name, const records::EntryRequest& request);

  soci::session& session_;
};

}  // namespace zeus::store
