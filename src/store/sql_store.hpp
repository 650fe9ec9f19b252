// A JobStore in the tables of any SQL database (database.hpp). Safe from any thread: one call at a time, but appends
// and other short writes that arrive during a commit share the next transaction.
#pragma once

#include "store/database.hpp"
#include "store/job_store.hpp"
#include "store/job_table.hpp"
#include "store/migrations.hpp"
#include "store/shared_turns.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::store {

class SqlStore final : public JobStore {
 public:
  // The tables must be as migrate() left them; `state` is what it returned.
  explicit SqlStore(std::unique_ptr<Database> database, Tables state = Tables::current);

  [[nodiscard]] std::string location() const override { return database_->name(); }
  void check() override { database_->check_place(); }

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

  [[nodiscard]] WriteCount written() const override { return {.writes = done_, .flushes = flushes_}; }

  // How many writes wait for the current commit.
  [[nodiscard]] std::size_t waiting() const { return turns_.waiting(); }

 private:
  // A write that may share a transaction; each has its own result or failure.
  struct Write {
    // Does the write, in a shared transaction or alone. False, and nothing is written, if it must be alone.
    std::function<bool(bool alone)> work;
    bool done = false;
    std::exception_ptr failure = nullptr;
  };
  struct Append {
    JobId job;
    std::uint64_t after;
    std::span<const records::JobEntryBody> bodies;
    WallTime now;
    const Attached* attached;
    std::string mark;
  };

  // Runs `work` with the database to itself, and again if the connection was lost; SOCI's failures become Errors.
  template <typename Work>
  auto reading(Work work);
  // Likewise in a transaction, for a caller that already has the database to itself. If the connection is lost during
  // the commit, its outcome is unknown, so `work` first checks whether it was done.
  template <typename Work>
  auto committing(Work work);
  // For writes that take long or hold locks that others wait for.
  template <typename Work>
  auto writing(Work work);
  // For short writes: together with others that arrive at the same time. `work` may run several times.
  void sharing(std::function<bool(bool alone)> work);
  void sharing(const std::function<void(soci::session&)>& work);
  // A mark that no other write has.
  std::string next_mark();

  [[nodiscard]] JobTable jobs() { return JobTable{*database_, current_}; }

  // For an append whose job is locked.
  bool append_now(const Append& append);
  void attach(const Append& append);
  // Leaves out the writes that must be alone.
  void write_together(std::span<Write* const> group);
  void write_alone(Write& write);

  static constexpr std::size_t most_in_a_transaction = 64;

  std::mutex mutex_;
  SharedTurns<Write> turns_{mutex_, most_in_a_transaction};
  std::unique_ptr<Database> database_;
  const bool current_;  // otherwise it is read-only and lacks what the last migrations add
  const std::string instance_;
  std::atomic<std::uint64_t> writes_ = 0;  // started
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> flushes_ = 0;
};

}  // namespace zeus::store
