// Where recurring jobs and their histories are kept: the only thing that any number of processes share. An interface,
// so that the same conformance suite (tests/store) holds every database to it; this is the only module that sees SQL.
//
// Rules that every store keeps:
// - A job's history is a sequence of entries numbered from 1 without a gap; nothing in it is ever changed.
// - What a call has returned from is durable: it survives the process, the machine's crash and a power cut.
// - A call either did all it says or nothing, however the process ends.
// - Any number of processes and threads at once; one JobStore may be used from several threads.
// Failures are zeus::Errors that say what to do: unavailable (disk full, cannot be reached, newer than this program),
// permission_denied (read-only), corrupt_data, timeout (others hold it too long). A store must not be used in a forked
// child: open another there.
#pragma once

#include "base/clock.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::store {

using JobId = std::int64_t;

// Who has a job made.
struct JobOrigin {
  std::string user = {};  // empty where nobody asks
  records::EntryRequest request = {};
  std::optional<std::uint64_t> most_jobs = {};  // that this user may have with it; of a job that is to be made
};

// A job that was to be made would be one too many of its user's.
class TooManyJobs : public Error {
 public:
  explicit TooManyJobs(std::uint64_t most);
};

// The entries of an import, in their order.
class EntrySource {
 public:
  EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;
  virtual ~EntrySource() = default;
  // Begins with the first one; called before any is asked for, and again where a transaction has to begin again.
  virtual void rewind() = 0;
  // The next few, which stay good until the next call; none where there are no more. What it throws ends the import,
  // and nothing of it is there.
  virtual std::span<const records::JobEntry> next() = 0;
};

// Those that are in memory, which is the caller's.
class GivenEntries final : public EntrySource {
 public:
  explicit GivenEntries(std::span<const records::JobEntry> all) : all_{all}, left_{all} {}
  void rewind() override { left_ = all_; }
  std::span<const records::JobEntry> next() override { return std::exchange(left_, {}); }

 private:
  std::span<const records::JobEntry> all_;
  std::span<const records::JobEntry> left_;
};

struct StoredJob {
  JobId id = 0;  // never used again, also after the job is forgotten
  std::string name;
  records::JobDefinition definition;
  WallTime created;
  std::uint64_t length = 0;  // entries of its history
  JobOrigin origin = {};
};

// A job and how long its history is: what somebody needs who looks again and again what has changed.
struct JobLength {
  JobId id = 0;
  std::string name;
  std::uint64_t length = 0;
  friend bool operator==(const JobLength&, const JobLength&) = default;
};

// What is told of a job without reading its history; a cache that may vanish at any time.
struct SummaryRow {
  records::JobSummary summary;         // of the first `summary.entries` entries
  std::vector<records::DaySums> days;  // each day and unit once
  bool all_days = true;                // otherwise those that are not in `days` stay as they are kept
};

// What is kept in the same transaction as new entries.
struct Attached {
  records::EntryRequest request = {};      // that asked for them
  std::optional<SummaryRow> summary = {};  // of the history with them
};

// Where a request is on record.
struct FoundRequest {
  std::uint64_t sequence = 0;  // of the first entry it made
  std::string asked;
};

enum class SummaryOrder {
  name,     // by its bytes
  changed,  // the latest first
  savings,  // of energy: the greatest first, the unknown last
};
enum class SummaryState { any, running, idle };

struct SummaryQuery {
  SummaryOrder order = SummaryOrder::name;
  SummaryState state = SummaryState::any;
  std::string after = {};  // a page's `next`
  std::size_t at_most = 100;
};

struct SummaryPage {
  std::vector<records::JobSummary> summaries;
  std::string next;  // empty where no more follow
};

// What was saved over all jobs by recurrences that reached in a range of UTC days (since 1970).
struct SavingsByDay {
  struct Day {
    std::int64_t day = 0;
    records::SavingsView savings;
  };
  std::vector<Day> days;                    // ascending; those on which something is counted
  std::optional<records::SavingsView> all;  // nothing where nothing is
};

// A policy's state after the entries up to `sequence`; a cache that may vanish at any time.
struct Snapshot {
  std::string key;  // policy, its version, the format
  std::uint64_t sequence = 0;
  std::string state;
};

// A sign of life that a recurrence's owner has given, and what it said with it of its GPUs.
struct KeptBeat {
  JobId job = 0;
  std::uint64_t recurrence = 0;
  std::uint64_t beat = 0;
  WallTime written;  // for people
  std::string readings;
};

// When somebody at `place` last saw another `beat` of a recurrence's owner, on that place's own monotonic clock.
struct Sighting {
  std::uint64_t beat = 0;
  Instant since;
};

// What has been made durable through a JobStore since it was opened: writes that come together share a flush.
struct WriteCount {
  std::uint64_t writes = 0;
  std::uint64_t flushes = 0;
};

// An invalid_argument Error: of a request that comes with a key which another one was asked by.
Error key_of_another_request();

class JobStore {
 public:
  JobStore() = default;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  virtual ~JobStore() = default;

  // In their order.
  virtual std::vector<std::string> names() = 0;
  virtual std::optional<StoredJob> find(std::string_view name) = 0;
  // Makes a job with an empty history, unless there is one of that name, which is returned as it is. Where its user has
  // as many as he may, also by others who make one at the same time, that is a TooManyJobs Error.
  virtual StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                   const JobOrigin& origin = {}) = 0;
  // Makes a job with a history (whose sequence numbers are given anew); already_exists Error when the name is taken.
  // Entries that have the same request are a corrupt_data Error. A request of `origin` that has made such a job before
  // is answered the same, with id 0 where that was forgotten since, and makes none.
  virtual StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           EntrySource& entries, const JobOrigin& origin = {}) = 0;
  // Forgets a job and everything of it; false when there was none. A request that has forgotten one before is answered
  // the same, and forgets nothing more; the last thousands of these are remembered.
  virtual bool forget(std::string_view name, const records::EntryRequest& request = {}) = 0;
  // Of every job.
  virtual std::vector<JobLength> lengths() = 0;

  // The entries after `after`, ascending, all of them or the first `at_most`.
  virtual std::vector<records::JobEntry> entries(JobId job, std::uint64_t after, std::size_t at_most) = 0;
  // Appends to a history that is `after` entries long, all of `bodies` and what is attached, or none. False, and
  // nothing is written, when others have appended meanwhile, or the request is on record: read on, decide again. A job
  // that is gone is a not_found Error.
  virtual bool append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
                      const Attached& attached = {}) = 0;
  // Where this request to the job is on record.
  virtual std::optional<FoundRequest> find_request(JobId job, std::string_view key) = 0;

  // Of a job's history as it is, if one is kept.
  virtual std::optional<records::JobSummary> summary(JobId job) = 0;
  // Those that are kept. An `after` that is no page's is an invalid_argument Error.
  virtual SummaryPage summaries(const SummaryQuery& query) = 0;
  // Jobs that summaries() leaves out, since none is kept of their history as it is; in their order.
  virtual std::vector<std::string> without_summary() = 0;
  // With all its days; unless the history is longer by now.
  virtual void keep_summary(JobId job, const SummaryRow& row) = 0;
  virtual void drop_summaries() = 0;
  // Of the days from `first` to `last`, both included, as the summaries that are kept have it.
  virtual SavingsByDay savings(std::int64_t first, std::int64_t last) = 0;

  // The newest snapshot of that key, if one is kept. Keeping one replaces older ones of the job.
  virtual std::optional<Snapshot> snapshot(JobId job, std::string_view key) = 0;
  virtual void keep_snapshot(JobId job, const Snapshot& snapshot) = 0;
  // Snapshots of earlier moments, from which to go on to one after them: the newest of that key that has no more than
  // `sequence` entries. Keeping one drops those of the job that have another key.
  virtual std::optional<Snapshot> checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) = 0;
  virtual void keep_checkpoint(JobId job, const Snapshot& checkpoint) = 0;
  // And checkpoints.
  virtual void drop_snapshots() = 0;

  // Signs of life of recurrences' owners, for those who cannot look at the process itself. A beat is a number that
  // grows. `readings` is what the owner says of its GPUs, in whatever form; it replaces what it said before.
  virtual void beat(JobId job, std::uint64_t recurrence, std::string_view readings = {}, WallTime now = {}) = 0;
  virtual std::uint64_t beats(JobId job, std::uint64_t recurrence) = 0;
  // The latest beats that came with readings: of one job, or of all. Those of recurrences that are over may be among
  // them.
  virtual std::vector<KeptBeat> readings(std::optional<JobId> job = {}) = 0;
  // Notes at `place` that the recurrence was at `beat` at `now`, unless that beat is noted there already; returns what
  // is noted then.
  virtual Sighting sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat,
                         Instant now) = 0;

  // Nothing where nothing is flushed.
  [[nodiscard]] virtual WriteCount written() const { return {}; }
};

}  // namespace zeus::store
