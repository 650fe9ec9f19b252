// A store for a server's many threads: a few connections to the same database for what is read, and one for what is
// written, so that appends share their flushes (sql_store.hpp). What was written is seen by what is read afterwards.
// Any thread; whoever asks while all connections are in use waits for one.
//
// A place that is read-only is opened for reading: changes are permission_denied Errors, nothing else is refused. Once
// it may be written, the next call closes every connection and opens them anew before it is answered (decision 0242).
#pragma once

#include "base/clock.hpp"
#include "store/job_store.hpp"
#include "store/open_store.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::store {

// Where the connections of a pool lead. Both may be called from any thread, by several at once.
struct PoolPlace {
  std::function<std::unique_ptr<JobStore>(Access)> open;  // one connection
  // Whether nobody can write there now, as on a disk that is mounted so. Without it connections find out by themselves
  // when that has changed.
  std::function<bool()> is_read_only = {};
};

class StorePool final : public JobStore {
 public:
  // Opens the connection that writes now, making what is missing there, and `readers` more as they are needed. `clock`
  // outlives it.
  StorePool(PoolPlace place, std::size_t readers, Clock& clock);

  std::vector<std::string> names() override;
  std::optional<StoredJob> find(std::string_view name) override;
  StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                           const JobOrigin& origin) override;
  StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                   EntrySource& entries, const JobOrigin& origin) override;
  bool forget(std::string_view name, const records::EntryRequest& request = {}) override;
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
  // Of all connections that have written.
  [[nodiscard]] WriteCount written() const override;

 private:
  // A connection while it is used: the one that writes, or one of the readers', back in its place when this ends.
  class Writing;
  class Borrowed;
  using Lock = std::unique_lock<std::mutex>;

  template <typename Work>
  auto reading(Work work);
  template <typename Work>
  auto writing(Work work);
  // What is long, and so has a reader's connection although it writes.
  template <typename Work>
  auto writing_beside(Work work);
  template <typename Use, typename Work>
  auto changing(Work work);

  std::unique_ptr<JobStore> take();
  void put_back(std::unique_ptr<JobStore> reader);
  // These hold the mutex, and let go of it while they wait, open or close.
  void be_open(Lock& lock);
  void open_writer(Lock& lock, Access access);
  void close_all(Lock& lock);
  std::unique_ptr<JobStore> take_idle();
  // After a change was refused to connections of this generation: whether it should be tried on others.
  bool open_anew(std::uint64_t generation);
  [[nodiscard]] bool is_read_only() const { return place_.is_read_only && place_.is_read_only(); }

  const PoolPlace place_;
  const std::size_t most_readers_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;           // nobody may use a connection: they are being closed or opened
  bool only_reads_ = false;       // they were opened when the place was read-only
  std::uint64_t generation_ = 0;  // how often all were closed
  std::optional<Instant> opened_anew_;
  std::unique_ptr<JobStore> writer_;
  std::size_t writing_ = 0;  // calls of it
  WriteCount written_before_;
  std::vector<std::unique_ptr<JobStore>> idle_;
  std::size_t open_readers_ = 0;
};

}  // namespace zeus::store
