// The store of recurring jobs and their histories: the only thing that any number of processes share. An interface, so
// that one conformance suite (tests/store) tests every database; no other module sees SQL.
//
// Rules of every store:
// - A job's history is a sequence of entries numbered from 1 without a gap; no entry ever changes.
// - When a call returns, its work is durable: it survives the process, the machine's crash and a power cut.
// - A call does everything or nothing, however the process ends.
// - Any number of processes and threads may use it at once, and several threads the same JobStore.
// Failures are zeus::Errors with advice: unavailable (disk full, unreachable, newer than this program),
// permission_denied (read-only), corrupt_data, timeout (locked by others for too long). A store must not be used in a
// forked child; open another one there.
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
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::store {

using JobId = std::int64_t;

// Who creates a job.
struct JobOrigin {
  std::string user = {};  // empty if users are not checked
  records::EntryRequest request = {};
  std::optional<std::uint64_t> most_jobs = {};  // that this user may have, including a new one
};

// The user would have too many jobs with a new one.
class TooManyJobs : public Error {
 public:
  explicit TooManyJobs(std::uint64_t most);
};

// The entries of an import, in order.
class EntrySource {
 public:
  EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;
  virtual ~EntrySource() = default;
  // Starts with the first entry; called before next(), and again when a transaction is repeated.
  virtual void rewind() = 0;
  // The next few entries, valid until the next call; none at the end. If it throws, the import ends and leaves nothing
  // behind.
  virtual std::span<const records::JobEntry> next() = 0;
};

// Entries in memory that the caller owns.
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
  JobId id = 0;  // never used again, even after the job is forgotten
  std::string name;
  records::JobDefinition definition;
  WallTime created;
  std::uint64_t length = 0;  // number of entries that its history had at least when it was found
  JobOrigin origin = {};
};

// A job and the length of its history: enough to see repeatedly what has changed.
struct JobLength {
  JobId id = 0;
  std::string name;
  std::uint64_t length = 0;
  friend bool operator==(const JobLength&, const JobLength&) = default;
};

// What a list shows of a job without reading its history; a cache that may vanish at any time.
struct SummaryRow {
  records::JobSummary summary;         // of the first `summary.entries` entries
  std::vector<records::DaySums> days;  // each day and unit once
  bool all_days = true;                // otherwise days that are not in `days` keep their values
};

// What is written in the same transaction as new entries.
struct Attached {
  records::EntryRequest request = {};      // that asked for them
  std::optional<SummaryRow> summary = {};  // of the history including them
};

// Where a request is on record.
struct FoundRequest {
  std::uint64_t sequence = 0;  // of the first entry that it made
  std::string asked;
};

enum class SummaryOrder {
  name,     // by its bytes
  changed,  // the latest first
  savings,  // of energy: the greatest first, unknown ones last
};
enum class SummaryState { any, running, idle };

struct SummaryQuery {
  SummaryOrder order = SummaryOrder::name;
  SummaryState state = SummaryState::any;
  std::string after = {};  // `next` of the page before
  std::size_t at_most = 100;
};

struct SummaryPage {
  std::vector<records::JobSummary> summaries;
  // Jobs in the same range whose history cannot be read. Without a reason if only the stored summary is damaged.
  std::vector<records::UnreadableJob> unreadable;
  std::string next;  // empty on the last page
};

// What recurrences that reached their target saved in a range of UTC days (since 1970), over all jobs.
struct SavingsByDay {
  struct Day {
    std::int64_t day = 0;
    records::SavingsView savings;
  };
  std::vector<Day> days;                    // ascending; only days with something to count
  std::optional<records::SavingsView> all;  // nothing if no day has
};

// A policy's state after the entries up to `sequence`; a cache that may vanish at any time.
struct Snapshot {
  std::string key;  // policy, its version, the format
  std::uint64_t sequence = 0;
  std::string state;
};

// A beat of a recurrence's owner, with its account of its GPUs.
struct KeptBeat {
  JobId job = 0;
  std::uint64_t recurrence = 0;
  std::uint64_t beat = 0;
  WallTime written;  // for people
  std::string readings;
};

// What shows that a recurrence's owner is alive: a count that grows with its beats and entries.
struct Sign {
  std::uint64_t recurrence = 0;
  std::uint64_t count = 0;
};

// The writes made durable by a JobStore since it was opened: writes at the same time share a flush.
struct WriteCount {
  std::uint64_t writes = 0;
  std::uint64_t flushes = 0;
};

// The invalid_argument Error for a request whose key belongs to another request.
Error key_of_another_request();

class JobStore {
 public:
  JobStore() = default;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  virtual ~JobStore() = default;

  // For people: a file, or an address without its password.
  [[nodiscard]] virtual std::string location() const = 0;
  // Throws if the database does not answer, or is no longer where it was opened.
  virtual void check() = 0;

  // Sorted.
  virtual std::vector<std::string> names() = 0;
  virtual std::optional<StoredJob> find(std::string_view name) = 0;
  // Creates a job with an empty history, or returns the existing one of that name unchanged. If its user already has
  // the most allowed, even through others at the same time: a TooManyJobs Error.
  virtual StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                   const JobOrigin& origin = {}) = 0;
  // Creates a job with a history, whose entries get new sequence numbers; an already_exists Error if the name is in
  // use. Entries from the same request are a corrupt_data Error. If the request of `origin` has already made such a
  // job, gets the same answer and makes none; the id is 0 if the job was forgotten since.
  virtual StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           EntrySource& entries, const JobOrigin& origin = {}) = 0;
  // Forgets a job and everything of it; false if there was none. A repeated request gets the same answer and forgets
  // nothing more; the last ten thousand such requests are remembered.
  virtual bool forget(std::string_view name, const records::EntryRequest& request = {}) = 0;
  // Of every job.
  virtual std::vector<JobLength> lengths() = 0;

  // The entries after `after`, ascending without a gap: all of them or the first `at_most`. One that is missing or
  // cannot be read is a corrupt_data Error that names it.
  virtual std::vector<records::JobEntry> entries(JobId job, std::uint64_t after, std::size_t at_most) = 0;
  // Appends to a history of `after` entries: all of `bodies` and what is attached, or nothing. False, and nothing is
  // written, if another process has appended meanwhile or the request is on record: read on and decide again. A job
  // that is gone is a not_found Error.
  virtual bool append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
                      const Attached& attached = {}) = 0;
  // Where this request to the job is on record.
  virtual std::optional<FoundRequest> find_request(JobId job, std::string_view key) = 0;

  // The summary of a job's current history, if one is stored.
  virtual std::optional<records::JobSummary> summary(JobId job) = 0;
  // The stored summaries. An `after` that is not from a page is an invalid_argument Error.
  virtual SummaryPage summaries(const SummaryQuery& query) = 0;
  // The jobs that summaries() leaves out because none is stored for their current history; sorted.
  virtual std::vector<std::string> without_summary() = 0;
  // Stores a summary with all its days, unless the history is longer by now.
  virtual void keep_summary(JobId job, const SummaryRow& row) = 0;
  // Stores in its place that the job cannot be read, and why. Does not read the job's definition.
  virtual void keep_unreadable(std::string_view name, const std::string& why) = 0;
  virtual void drop_summaries() = 0;
  // Over the days from `first` to `last`, both included, by the stored summaries.
  virtual SavingsByDay savings(std::int64_t first, std::int64_t last) = 0;

  // The newest snapshot with that key, if there is one. A new snapshot replaces older ones of the job.
  virtual std::optional<Snapshot> snapshot(JobId job, std::string_view key) = 0;
  virtual void keep_snapshot(JobId job, const Snapshot& snapshot) = 0;
  // Snapshots of earlier states, from which later ones can be folded: the newest with that key that has at most
  // `sequence` entries. A new one drops the job's checkpoints with other keys.
  virtual std::optional<Snapshot> checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) = 0;
  virtual void keep_checkpoint(JobId job, const Snapshot& checkpoint) = 0;
  // Drops checkpoints too.
  virtual void drop_snapshots() = 0;

  // Beats of recurrences' owners, for processes that cannot check the owner directly. A beat is a growing number.
  // `readings` is the owner's account of its GPUs, in any form; it replaces the one before.
  virtual void beat(JobId job, std::uint64_t recurrence, std::string_view readings = {}, WallTime now = {}) = 0;
  // The number of beats of each recurrence that has sent any.
  virtual std::map<std::uint64_t, std::uint64_t> beats(JobId job) = 0;
  // The latest beats with readings, of one job or of all. They may include recurrences that are over.
  virtual std::vector<KeptBeat> readings(std::optional<JobId> job = {}) = 0;
  // Notes at `place` that each recurrence had reached its count at `now`, on that place's monotonic clock, unless that
  // count is noted there already. Returns since when each count is noted, in the order of the signs.
  virtual std::vector<Instant> sight(JobId job, std::string_view place, std::span<const Sign> signs, Instant now) = 0;

  // Zero if the store does not flush.
  [[nodiscard]] virtual WriteCount written() const { return {}; }
};

}  // namespace zeus::store
