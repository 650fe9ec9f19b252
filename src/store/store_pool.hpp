// A store for a server's many threads: a few connections to the same database for what is read, and one for what is
// written, so that appends share their flushes (sql_store.hpp). What was written is seen by what is read afterwards.
// Any thread; whoever asks while all connections are in use waits for one.
#pragma once

#include "store/job_store.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::store {

class StorePool final : public JobStore {
 public:
  // `open` makes one connection: the one that writes now, `readers` more as they are needed. It may be called from any
  // thread, by several at once.
  StorePool(std::function<std::unique_ptr<JobStore>()> open, std::size_t readers);

  std::vector<std::string> names() override;
  std::optional<StoredJob> find(std::string_view name) override;
  StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                           const JobOrigin& origin) override;
  StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                   std::span<const records::JobEntry> entries, const JobOrigin& origin) override;
  bool forget(std::string_view name) override;
  std::uint64_t jobs_of(std::string_view user) override;
  std::vector<JobLength> lengths() override;

  std::vector<records::JobEntry> entries(JobId job, std::uint64_t after, std::size_t at_most) override;
  bool append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
              const Attached& attached) override;
  std::optional<FoundRequest> find_request(JobId job, std::string_view key) override;

  std::optional<records::JobSummary> summary(JobId job) override;
  SummaryPage summaries(const SummaryQuery& query) override;
  std::vector<std::string> without_summary() override;
  void keep_summary(JobId job, const SummaryRow& row) override;
  void drop_summaries() override;
  SavingsByDay savings(std::int64_t first, std::int64_t last) override;

  std::optional<Snapshot> snapshot(JobId job, std::string_view key) override;
  void keep_snapshot(JobId job, const Snapshot& snapshot) override;
  std::optional<Snapshot> checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) override;
  void keep_checkpoint(JobId job, const Snapshot& checkpoint) override;
  void drop_snapshots() override;

  void beat(JobId job, std::uint64_t recurrence, std::string_view readings, WallTime now) override;
  std::uint64_t beats(JobId job, std::uint64_t recurrence) override;
  std::vector<KeptBeat> readings(std::optional<JobId> job) override;
  Sighting sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat, Instant now) override;
  // Of the connection that writes.
  [[nodiscard]] WriteCount written() const override { return writer_->written(); }

 private:
  // One of the readers' connections, back in its place when this ends.
  class Borrowed;

  std::unique_ptr<JobStore> take();
  void put_back(std::unique_ptr<JobStore> reader);

  std::function<std::unique_ptr<JobStore>()> open_;
  std::unique_ptr<JobStore> writer_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<JobStore>> idle_;
  std::size_t open_readers_ = 0;
  std::size_t most_readers_;
};

}  // namespace zeus::store
