// A JobStore in tables of an SQL database, whichever that is (database.hpp). Safe from any thread: one call at a time.
#pragma once

#include "store/database.hpp"
#include "store/job_store.hpp"

#include <functional>
#include <memory>
#include <mutex>

namespace zeus::store {

class SqlStore final : public JobStore {
 public:
  // The tables of `database` are up to date (migrations.hpp).
  explicit SqlStore(std::unique_ptr<Database> database) : database_{std::move(database)} {}

  std::vector<std::string> names() override;
  std::optional<StoredJob> find(std::string_view name) override;
  StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now) override;
  StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                   std::span<const records::JobEntry> entries) override;
  bool forget(std::string_view name) override;

  std::vector<records::JobEntry> entries(JobId job, std::uint64_t after, std::size_t at_most) override;
  bool append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now) override;

  std::optional<Snapshot> snapshot(JobId job, std::string_view key) override;
  void keep_snapshot(JobId job, const Snapshot& snapshot) override;
  void drop_snapshots() override;

  void beat(JobId job, std::uint64_t recurrence) override;
  std::uint64_t beats(JobId job, std::uint64_t recurrence) override;
  Sighting sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat, Instant now) override;

 private:
  // Runs `work` with the database to itself; SOCI's failures become Errors.
  template <typename Work>
  auto reading(Work work);
  // Likewise in a transaction, which is committed when `work` returns and undone when it throws.
  template <typename Work>
  auto writing(Work work);

  std::optional<StoredJob> read_job(const std::string& name);
  std::optional<long long> find_id(const std::string& name);
  void insert(JobId job, std::uint64_t sequence, WallTime written, const records::JobEntryBody& body);
  StoredJob insert_job(std::string_view name, const records::JobDefinition& definition, WallTime created);

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
};

}  // namespace zeus::store
