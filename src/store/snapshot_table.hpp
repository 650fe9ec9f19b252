// Tables of jobs' snapshots and checkpoints, which may be emptied at any time. For sql_store.cpp, within its
// transactions. One thread at a time.
#pragma once

#include "store/job_store.hpp"
#include "store/soci.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::store {

class SnapshotTable {
 public:
  explicit SnapshotTable(soci::session& session) : session_{session} {}

  std::optional<Snapshot> find(JobId job, const std::string& key);
  void keep(JobId job, const Snapshot& snapshot);
  std::optional<Snapshot> checkpoint_before(JobId job, const std::string& key, std::uint64_t sequence);
  void keep_checkpoint(JobId job, const Snapshot& checkpoint);
  void drop_all();

 private:
  soci::session& session_;
};

}  // namespace zeus::store
