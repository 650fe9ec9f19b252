#include "store/sql_store.hpp"

#include "base/random_id.hpp"
#include "store/beat_table.hpp"
#include "store/entry_table.hpp"
#include "store/request_table.hpp"
#include "store/snapshot_table.hpp"
#include "store/summary_table.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace zeus::store {

TooManyJobs::TooManyJobs(std::uint64_t most)
    : Error{ErrorKind::conflict, fmt::format("this user has {} jobs, which is the most allowed", most),
            "forget some of them"} {
}

Error key_of_another_request() {
  return {ErrorKind::invalid_argument, "another request with this key asked for something else",
          "use a new key for each request, and the same key only to repeat a request"};
}

template <typename Work>
auto SqlStore::reading(Work work) {
  const std::scoped_lock lock{mutex_};
  return explaining(*database_, [&] { return work(database_->session()); });
}

template <typename Work>
auto SqlStore::committing(Work work) {
  auto result = explaining(*database_, [&] {
    return in_transaction(
        *database_, [&] { database_->begin_writing(); }, [&] { return work(database_->session()); });
  });
  ++flushes_;
  return result;
}

template <typename Work>
auto SqlStore::writing(Work work) {
  const std::scoped_lock lock{mutex_};
  auto result = committing(std::move(work));
  ++done_;
  return result;
}

SqlStore::SqlStore(std::unique_ptr<Database> database, Tables state)
    : database_{std::move(database)}, current_{state == Tables::current}, instance_{random_id()} {
}

std::string SqlStore::next_mark() {
  return fmt::format("{}-{}", instance_, ++writes_);
}

std::vector<std::string> SqlStore::names() {
  return reading([&](soci::session&) { return jobs().names(); });
}

std::optional<StoredJob> SqlStore::find(std::string_view name) {
  return reading([&](soci::session&) { return jobs().find(std::string{name}); });
}

StoredJob SqlStore::find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                   const JobOrigin& origin) {
  const std::string called{name};
  const std::string mark = next_mark();
  while (true) {
    if (std::optional<StoredJob> known = find(name)) {
      return std::move(*known);
    }
    // A faster process may have made it, and may have forgotten it again.
    std::optional<StoredJob> made;
    sharing([&](bool alone) {
      made = jobs().find(called);
      if (made) {
        return true;
      }
      // Others who make a job of this user wait until this one is there, so that they count it.
      const bool is_bounded = origin.most_jobs && !origin.user.empty();
      if (is_bounded && !jobs().lock_user(origin.user, alone)) {
        return false;
      }
      if (is_bounded && jobs().count_of(origin.user) >= *origin.most_jobs) {
        throw TooManyJobs{*origin.most_jobs};
      }
      jobs().insert(called, definition, now, origin, mark);
      made = jobs().find(called);
      return true;
    });
    if (made) {
      return *made;
    }
  }
}

StoredJob SqlStore::import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           EntrySource& entries, const JobOrigin& origin) {
  const std::string called{name};
  const std::string mark = next_mark();
  return writing([&](soci::session& session) {
    const auto made_before = [&]() -> std::optional<StoredJob> {
      if (!RequestTable{session}.has_made(called, origin.request)) {
        return std::nullopt;
      }
      std::uint64_t length = 0;
      entries.rewind();
      for (auto some = entries.next(); !some.empty(); some = entries.next()) {
        length += some.size();
      }
      const std::optional<StoredJob> there = jobs().find(called);
      const bool is_that = there && there->origin.request == origin.request;
      return StoredJob{.id = is_that ? there->id : 0,
                       .name = called,
                       .definition = definition,
                       .created = created,
                       .length = length,
                       .origin = origin};
    };
    if (std::optional<StoredJob> made = made_before()) {
      return *std::move(made);
    }
    if (!jobs().insert(called, definition, created, origin, mark)) {
      if (!jobs().has_mark(called, mark)) {
        // Another server with the same request may have been faster.
        if (std::optional<StoredJob> made = made_before()) {
          return *std::move(made);
        }
        throw Error{ErrorKind::already_exists, fmt::format("there is a job '{}' already", name),
                    "forget it first, or choose another name"};
      }
      return jobs().find(called).value();
    }
    StoredJob job = jobs().find(called).value();
    EntryTable table{session};
    entries.rewind();
    for (auto some = entries.next(); !some.empty(); some = entries.next()) {
      std::vector<NewEntry> rows;
      rows.reserve(some.size());
      for (const records::JobEntry& entry : some) {
        rows.push_back({.written = entry.written, .body = &entry.body, .request = &entry.request, .mark = {}});
      }
      if (!table.insert(job.id, job.length + 1, rows)) {
        throw Error{ErrorKind::corrupt_data, "two entries of this history come from the same request",
                    "export the job again with `zeus jobs NAME export`"};
      }
      job.length += some.size();
    }
    return job;
  });
}

bool SqlStore::forget(std::string_view name, const records::EntryRequest& request) {
  const std::string called{name};
  // Once known, the ID shows whether the job was forgotten: there may be a new job of that name.
  std::optional<JobId> found;
  return writing([&](soci::session& session) {
    // Does not read the definition, which may be damaged.
    if (found) {
      if (!jobs().lock(*found, database_->dialect().lock_row)) {
        return true;
      }
    } else {
      found = jobs().lock(called);
    }
    RequestTable requests{session};
    if (requests.has_forgotten(called, found, request)) {
      return true;
    }
    if (!found) {
      return false;
    }
    requests.forget(*found, called, request);
    jobs().remove(*found);
    return true;
  });
}

std::vector<JobLength> SqlStore::lengths() {
  return reading([&](soci::session&) { return jobs().lengths(); });
}

std::vector<records::JobEntry> SqlStore::entries(JobId job, std::uint64_t after, std::size_t at_most) {
  return reading([&](soci::session& session) { return EntryTable{session, current_}.read(job, after, at_most); });
}

bool SqlStore::append_now(const Append& append) {
  // A separate statement: each sees the data as of its start, and another process may have appended while this one
  // waited for the row.
  EntryTable table{database_->session()};
  if (table.length(append.job) != append.after) {
    return table.has_mark(append.job, append.after + 1, append.mark);
  }
  const records::EntryRequest& request = append.attached->request;
  if (!request.key.empty() && table.find_request(append.job, request.key)) {
    return false;
  }
  std::vector<NewEntry> entries;
  const records::EntryRequest none;
  for (const records::JobEntryBody& body : append.bodies) {
    const bool first = entries.empty();
    entries.push_back({.written = append.now,
                       .body = &body,
                       .request = first ? &request : &none,
                       .mark = first ? std::string_view{append.mark} : std::string_view{}});
  }
  if (!table.insert(append.job, append.after + 1, entries)) {
    throw Error{ErrorKind::internal, "another process has appended to a locked job"};
  }
  attach(append);
  return true;
}

void SqlStore::attach(const Append& append) {
  SummaryTable table{database_->session()};
  const std::optional<SummaryRow>& row = append.attached->summary;
  if (!row) {
    table.drop(append.job);
    return;
  }
  table.keep(append.job, *row, append.after);
  const auto begins = [](const records::JobEntryBody& body) {
    return std::holds_alternative<records::RecurrenceBegun>(body);
  };
  if (std::ranges::none_of(append.bodies, begins)) {
    return;
  }
  // The last reports of owners whose recurrences are over are useless, and no transaction locks them.
  std::vector<std::uint64_t> running;
  for (const records::RunningSummary& one : row->summary.running) {
    running.push_back(one.recurrence - 1);  // which counts from 1
  }
  BeatTable{database_->session()}.drop_all_but(append.job, running);
}

void SqlStore::write_together(std::span<Write* const> group) {
  try {
    const std::vector<bool> done = committing([&](soci::session&) {
      std::vector<bool> each;
      for (const Write* const write : group) {
        each.push_back(write->work(false));
      }
      return each;
    });
    for (std::size_t index = 0; index < group.size(); ++index) {
      group[index]->done = done[index];
    }
  } catch (const Error& error) {
    // A failure of the database affects all writes; any other may be due to one of them.
    if (error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::timeout) {
      for (Write* const each : group) {
        each->failure = std::make_exception_ptr(error);  // a copy for each: they end in threads of their own
      }
    }
  } catch (...) {
    // Each write is then tried alone.
  }
}

void SqlStore::write_alone(Write& write) {
  try {
    write.done = committing([&](soci::session&) { return write.work(true); });
  } catch (...) {
    write.failure = std::current_exception();
  }
}

void SqlStore::sharing(std::function<bool(bool alone)> work) {
  Write mine{.work = std::move(work)};
  turns_.join(mine, [this](std::span<Write* const> group) {
    if (group.size() > 1) {
      write_together(group);
    }
    for (Write* const each : group) {
      if (!each->done && each->failure == nullptr) {
        write_alone(*each);
      }
    }
  });
  if (mine.failure != nullptr) {
    std::rethrow_exception(mine.failure);
  }
  ++done_;
}

void SqlStore::sharing(const std::function<void(soci::session&)>& work) {
  sharing([&](bool /*alone*/) {
    work(database_->session());
    return true;
  });
}

bool SqlStore::append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
                      const Attached& attached) {
  if (attached.summary && attached.summary->summary.entries != after + bodies.size()) {
    throw Error{ErrorKind::internal, "this is not the summary of the history with these entries"};
  }
  const Append mine{
      .job = job, .after = after, .bodies = bodies, .now = now, .attached = &attached, .mark = next_mark()};
  bool appended = false;
  sharing([&](bool alone) {
    // A write that would wait for a lock, or whose job is gone, must be alone.
    const Dialect& dialect = database_->dialect();
    if (!jobs().lock(job, alone ? dialect.lock_row : dialect.lock_row_if_free)) {
      if (alone) {
        throw Error{ErrorKind::not_found, "the job was forgotten meanwhile", "run it again to start over"};
      }
      return false;
    }
    appended = append_now(mine);
    return true;
  });
  return appended;
}

std::optional<FoundRequest> SqlStore::find_request(JobId job, std::string_view key) {
  const std::string asked_by{key};
  return reading([&](soci::session& session) {
    return current_ ? EntryTable{session}.find_request(job, asked_by) : std::nullopt;
  });
}

std::optional<records::JobSummary> SqlStore::summary(JobId job) {
  return reading([&](soci::session& session) { return current_ ? SummaryTable{session}.find(job) : std::nullopt; });
}

SummaryPage SqlStore::summaries(const SummaryQuery& query) {
  return reading([&](soci::session& session) { return current_ ? SummaryTable{session}.page(query) : SummaryPage{}; });
}

std::vector<std::string> SqlStore::without_summary() {
  if (!current_) {
    return names();
  }
  return reading([&](soci::session& session) { return SummaryTable{session}.without(); });
}

void SqlStore::keep_summary(JobId job, const SummaryRow& row) {
  sharing([&](bool alone) {
    if (!jobs().lock(job, alone ? database_->dialect().lock_row : database_->dialect().lock_row_if_free)) {
      return alone;  // the job is gone
    }
    if (EntryTable{database_->session()}.length(job) == row.summary.entries) {
      SummaryTable{database_->session()}.keep(job, row, row.summary.entries);
    }
    return true;
  });
}

void SqlStore::keep_unreadable(std::string_view name, const std::string& why) {
  sharing([&](soci::session& session) {
    if (const std::optional<JobId> job = jobs().lock(std::string{name})) {
      SummaryTable{session}.keep_unreadable(*job, EntryTable{session}.length(*job),
                                            {.name = std::string{name}, .why = why});
    }
  });
}

void SqlStore::drop_summaries() {
  writing([&](soci::session& session) {
    SummaryTable{session}.drop_all();
    return true;
  });
}

SavingsByDay SqlStore::savings(std::int64_t first, std::int64_t last) {
  return reading(
      [&](soci::session& session) { return current_ ? SummaryTable{session}.savings(first, last) : SavingsByDay{}; });
}

std::optional<Snapshot> SqlStore::snapshot(JobId job, std::string_view key) {
  return reading([&](soci::session& session) { return SnapshotTable{session}.find(job, std::string{key}); });
}

void SqlStore::keep_snapshot(JobId job, const Snapshot& snapshot) {
  sharing([&](soci::session& session) { SnapshotTable{session}.keep(job, snapshot); });
}

std::optional<Snapshot> SqlStore::checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) {
  return reading([&](soci::session& session) {
    return current_ ? SnapshotTable{session}.checkpoint_before(job, std::string{key}, sequence) : std::nullopt;
  });
}

void SqlStore::keep_checkpoint(JobId job, const Snapshot& checkpoint) {
  sharing([&](soci::session& session) { SnapshotTable{session}.keep_checkpoint(job, checkpoint); });
}

void SqlStore::drop_snapshots() {
  writing([&](soci::session& session) {
    SnapshotTable{session}.drop_all();
    return true;
  });
}

void SqlStore::beat(JobId job, std::uint64_t recurrence, std::string_view readings, WallTime now) {
  KeptBeat next{.job = job, .recurrence = recurrence, .beat = 0, .written = now, .readings = std::string{readings}};
  sharing([&](soci::session& session) {
    BeatTable table{session};
    // Counted once, so that a repeated write is still one beat.
    next.beat = next.beat == 0 ? table.find(job, recurrence) + 1 : next.beat;
    table.put(next);
  });
}

std::vector<KeptBeat> SqlStore::readings(std::optional<JobId> job) {
  return reading(
      [&](soci::session& session) { return current_ ? BeatTable{session}.readings(job) : std::vector<KeptBeat>{}; });
}

std::map<std::uint64_t, std::uint64_t> SqlStore::beats(JobId job) {
  return reading([&](soci::session& session) { return BeatTable{session}.all(job); });
}

std::vector<Instant> SqlStore::sight(JobId job, std::string_view place, std::span<const Sign> signs, Instant now) {
  std::vector<Instant> since;
  sharing([&](soci::session& session) { since = BeatTable{session}.sight(job, std::string{place}, signs, now); });
  return since;
}

}  // namespace zeus::store
