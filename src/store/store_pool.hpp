// A store for a server's many threads: a few connections to one database for reading, and one for writing, so that
// appends share flushes (sql_store.hpp). Reads see every earlier write. Any thread; a call waits if all connections are
// in use.
//
// A read-only place is opened for reading: changes are permission_denied Errors, everything else works. Once the place
// is writable, the next call closes every connection and opens them again before it answers (decision 0242).
#pragma once

#include "base/clock.hpp"
#include "store/job_store.hpp"
#include "store/open_store.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::store {

// Where the connections of a pool lead. Any thread may call both functions, several at once.
struct PoolPlace {
  std::function<std::unique_ptr<JobStore>(Access)> open;  // one connection
  // Whether the place is read-only now, like a disk mounted that way. Without it the connections find out by themselves
  // when that changes.
  std::function<bool()> is_read_only = {};
  std::string name = {};  // for people
};

class StorePool final : public JobStore {
 public:
  // Opens the writing connection at once, making what is missing, and up to `readers` others when needed. `clock` must
  // outlive it.
  StorePool(PoolPlace place, std::size_t readers, Clock& clock);

  [[nodiscard]] std::string location() const override { return place_.name; }
  void check() override;

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
  void keep_unreadable(std::string_view name, const std::string& why) override;
  void drop_summaries() override;
  SavingsByDay savings(std::int64_t first, std::int64_t last) override;

  std::optional<Snapshot> snapshot(JobId job, std::string_view key) override;
  void keep_snapshot(JobId job, const Snapshot& snapshot) override;
  std::optional<Snapshot> checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) override;
  void keep_checkpoint(JobId job, const Snapshot& checkpoint) override;
  void drop_snapshots() override;

  void beat(JobId job, std::uint64_t recurrence, std::string_view readings, WallTime now) override;
  std::map<std::uint64_t, std::uint64_t> beats(JobId job) override;
  std::vector<KeptBeat> readings(std::optional<JobId> job) override;
  std::vector<Instant> sight(JobId job, std::string_view place, std::span<const Sign> signs, Instant now) override;
  // Of all connections that have written.
  [[nodiscard]] WriteCount written() const override;

 private:
  // A connection in use: the writer, or one of the readers, returned at the end of the scope.
  class Writing;
  class Borrowed;
  using Lock = std::unique_lock<std::mutex>;

  template <typename Work>
  auto reading(Work work);
  template <typename Work>
  auto writing(Work work);
  // For long writes, which therefore use a reader's connection.
  template <typename Work>
  auto writing_beside(Work work);
  template <typename Use, typename Work>
  auto changing(Work work);

  std::unique_ptr<JobStore> take();
  void put_back(std::unique_ptr<JobStore> reader);
  // These are called with the mutex locked, and unlock it while they wait, open or close.
  void be_open(Lock& lock);
  void open_writer(Lock& lock, Access access);
  void close_all(Lock& lock);
  std::unique_ptr<JobStore> take_idle();
  // After a change failed on connections of this generation: whether to retry it on new ones.
  bool open_anew(std::uint64_t generation);
  [[nodiscard]] bool is_read_only() const { return place_.is_read_only && place_.is_read_only(); }

  const PoolPlace place_;
  const std::size_t most_readers_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;           // no connection may be used: they are being closed or opened
  bool only_reads_ = false;       // they were opened when the place was read-only
  std::uint64_t generation_ = 0;  // how often all connections were closed
  std::optional<Instant> opened_anew_;
  std::unique_ptr<JobStore> writer_;
  std::size_t writing_ = 0;  // calls that use it
  WriteCount written_before_;
  std::vector<std::unique_ptr<JobStore>> idle_;
  std::size_t open_readers_ = 0;
};

}  // namespace zeus::store
