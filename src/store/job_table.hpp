// Jobs as a table, without their histories. For sql_store.cpp, within its transactions. One thread at a time.
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
  // Tables that are not `current` do not know who had a job made.
  explicit JobTable(Database& database, bool current = true)
      : session_{database.session()}, dialect_{database.dialect()}, current_{current} {}

  std::vector<std::string> names();
  std::vector<JobLength> lengths();
  std::optional<StoredJob> find(const std::string& name);
  // How many jobs this user had made.
  std::uint64_t count_of(const std::string& user);
  // Holds the job against others who would add to it or forget it; nothing, or false, when there is none.
  std::optional<JobId> lock(const std::string& name);
  bool lock(JobId job, std::string_view how);
  // Holds off others who would make a job of this user's; false where another does and this is not to wait.
  bool lock_user(const std::string& user, bool waits);
  // False when the name is taken.
  bool insert(const std::string& name, const records::JobDefinition& definition, WallTime created,
              const JobOrigin& origin, const std::string& mark);
  bool has_mark(const std::string& name, const std::string& mark);
  // And everything of it.
  void remove(JobId job);

 private:
  soci::session& session_;
  const Dialect& dialect_;
  bool current_;
};

}  // namespace zeus::store
