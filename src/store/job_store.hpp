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

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::store {

using JobId = std::int64_t;

struct StoredJob {
  JobId id = 0;  // never used again, also after the job is forgotten
  std::string name;
  records::JobDefinition definition;
  WallTime created;
  std::uint64_t length = 0;  // entries of its history
};

// A policy's state after the entries up to `sequence`; a cache that may vanish at any time.
struct Snapshot {
  std::string key;  // policy, its version, the format
  std::uint64_t sequence = 0;
  std::string state;
};

// When somebody at `place` last saw another `beat` of a recurrence's owner, on that place's own monotonic clock.
struct Sighting {
  std::uint64_t beat = 0;
  Instant since;
};

class JobStore {
 public:
  JobStore() = default;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  virtual ~JobStore() = default;

  // In their order.
  virtual std::vector<std::string> names() = 0;
  virtual std::optional<StoredJob> find(std::string_view name) = 0;
  // Makes a job with an empty history, unless there is one of that name, which is returned as it is.
  virtual StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now) = 0;
  // Makes a job with a history (whose sequence numbers are given anew); already_exists Error when the name is taken.
  virtual StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           std::span<const records::JobEntry> entries) = 0;
  // Forgets a job and everything of it; false when there was none.
  virtual bool forget(std::string_view name) = 0;

  // The entries after `after`, ascending, all of them or the first `at_most`.
  virtual std::vector<records::JobEntry> entries(JobId job, std::uint64_t after, std::size_t at_most) = 0;
  // Appends to a history that is `after` entries long, all of `bodies` or none. False, and nothing is written, when
  // others have appended meanwhile: read on, decide again. A job that is gone is a not_found Error.
  virtual bool append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now) = 0;

  // The newest snapshot of that key, if one is kept. Keeping one replaces older ones of the job.
  virtual std::optional<Snapshot> snapshot(JobId job, std::string_view key) = 0;
  virtual void keep_snapshot(JobId job, const Snapshot& snapshot) = 0;
  virtual void drop_snapshots() = 0;

  // Signs of life of recurrences' owners, for those who cannot look at the process itself. A beat is a number that
  // grows.
  virtual void beat(JobId job, std::uint64_t recurrence) = 0;
  virtual std::uint64_t beats(JobId job, std::uint64_t recurrence) = 0;
  // Notes at `place` that the recurrence was at `beat` at `now`, unless that beat is noted there already; returns what
  // is noted then.
  virtual Sighting sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat,
                         Instant now) = 0;
};

}  // namespace zeus::store
