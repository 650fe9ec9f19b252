// Beats of recurrences' owners, and who has seen them when, as tables. For sql_store.cpp, within its transactions. One
// thread at a time.
#pragma once

#include "store/job_store.hpp"
#include "store/soci.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::store {

class BeatTable {
 public:
  explicit BeatTable(soci::session& session) : session_{session} {}

  std::uint64_t find(JobId job, std::uint64_t recurrence);
  // Unless it has got further already.
  void put(const KeptBeat& beat);
  std::vector<KeptBeat> readings(std::optional<JobId> job);
  // Since when `place` has seen that beat.
  Instant sight(JobId job, std::uint64_t recurrence, const std::string& place, std::uint64_t beat, Instant now);
  // Of recurrences that are over, which is all but these.
  void drop_all_but(JobId job, std::span<const std::uint64_t> recurrences);

 private:
  soci::session& session_;
};

}  // namespace zeus::store
