// Tables of the beats of recurrences' owners, and of when each place saw them. For sql_store.cpp, within its
// transactions. One thread at a time.
#pragma once

#include "store/job_store.hpp"
#include "store/soci.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::store {

class BeatTable {
 public:
  explicit BeatTable(soci::session& session) : session_{session} {}

  std::uint64_t find(JobId job, std::uint64_t recurrence);
  std::map<std::uint64_t, std::uint64_t> all(JobId job);
  // Unless a later beat is there.
  void put(const KeptBeat& beat);
  std::vector<KeptBeat> readings(std::optional<JobId> job);
  // Since when `place` has seen each of these counts. Writes only those that are new.
  std::vector<Instant> sight(JobId job, const std::string& place, std::span<const Sign> signs, Instant now);
  // Drops the beats of all recurrences but these, because the others are over.
  void drop_all_but(JobId job, std::span<const std::uint64_t> recurrences);

 private:
  soci::session& session_;
};

}  // namespace zeus::store
