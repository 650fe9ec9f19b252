#include "store/snapshot_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::store {

std::optional<Snapshot> SnapshotTable::find(JobId job, const std::string& key) {
  const long long id = job;
  long long sequence = 0;
  std::string state;
  session_ << "SELECT sequence, state FROM snapshots WHERE job = :job AND kind = :kind", soci::into(sequence),
      soci::into(state), soci::use(id), soci::use(key);
  if (!session_.got_data()) {
    return std::nullopt;
  }
  return Snapshot{.key = key, .sequence = static_cast<std::uint64_t>(sequence), .state = std::move(state)};
}

void SnapshotTable::keep(JobId job, const Snapshot& snapshot) {
  const long long id = job;
  const long long sequence = sql(snapshot.sequence);
  session_ << "INSERT INTO snapshots (job, kind, sequence, state) VALUES (:job, :kind, :sequence, :state) "
              "ON CONFLICT (job) DO UPDATE SET kind = excluded.kind, sequence = excluded.sequence, "
              "state = excluded.state WHERE snapshots.kind <> excluded.kind OR snapshots.sequence < excluded.sequence",
      soci::use(id), soci::use(snapshot.key), soci::use(sequence), soci::use(snapshot.state);
}

std::optional<Snapshot> SnapshotTable::checkpoint_before(JobId job, const std::string& key, std::uint64_t sequence) {
  const long long id = job;
  const long long most = sql(std::min<std::uint64_t>(sequence, std::numeric_limits<long long>::max()));
  long long found = 0;
  std::string state;
  session_ << "SELECT sequence, state FROM checkpoints WHERE job = :job AND kind = :kind AND sequence <= :most ORDER "
              "BY sequence DESC LIMIT 1",
      soci::into(found), soci::into(state), soci::use(id), soci::use(key), soci::use(most);
  if (!session_.got_data()) {
    return std::nullopt;
  }
  return Snapshot{.key = key, .sequence = static_cast<std::uint64_t>(found), .state = std::move(state)};
}

void SnapshotTable::keep_checkpoint(JobId job, const Snapshot& checkpoint) {
  const long long id = job;
  const long long sequence = sql(checkpoint.sequence);
  session_ << "DELETE FROM checkpoints WHERE job = :job AND kind <> :kind", soci::use(id), soci::use(checkpoint.key);
  session_ << "INSERT INTO checkpoints (job, kind, sequence, state) VALUES (:job, :kind, :sequence, :state) ON "
              "CONFLICT (job, kind, sequence) DO UPDATE SET state = excluded.state",
      soci::use(id), soci::use(checkpoint.key), soci::use(sequence), soci::use(checkpoint.state);
}

void SnapshotTable::drop_all() {
  session_ << "DELETE FROM snapshots";
  session_ << "DELETE FROM checkpoints";
}

}  // namespace zeus::store
