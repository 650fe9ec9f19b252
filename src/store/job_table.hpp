// The table of jobs, without their histories. For sql_store.cpp, within its transactions. One thread at a time.
#pragma once

#include "store/database.hpp"
#include "store/job_store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::store {

class JobTable {
 public:
  // Tables that are not `current` do not hold who created a job.
  explicit JobTable(Database& database, bool current = true)
      : session_{database.session()}, dialect_{database.dialect()}, current_{current} {}

  std::vector<std::string> names();
  std::vector<JobLength> lengths();
  std::optional<StoredJob> find(const std::string& name);
  // How many jobs this user has.
  std::uint64_t count_of(const std::string& user);
  // Locks the job against appending and forgetting by others; nothing, or false, if there is none.
  std::optional<JobId> lock(const std::string& name);
  bool lock(JobId job, std::string_view how);
  // Keeps others from creating a job of this user; false if another transaction does and `waits` is false.
  bool lock_user(const std::string& user, bool waits);
  // False if the name is in use.
  bool insert(const std::string& name, const records::JobDefinition& definition, WallTime created,
              const JobOrigin& origin, const std::string& mark);
  bool has_mark(const std::string& name, const std::string& mark);
  // With everything of it.
  void remove(JobId job);

 private:
  soci::session& session_;
  const Dialect& dialect_;
  bool current_;
};

}  // namespace zeus::store
