#include "store/sql_store.hpp"

#include "base/random_id.hpp"
#include "store/summary_table.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

namespace zeus::store {

namespace {

long long sql(std::uint64_t number) {
  return static_cast<long long>(number);
}

soci::indicator unless_empty(std::string_view text) {
  return text.empty() ? soci::i_null : soci::i_ok;
}

void refuse_repeated(std::span<const records::JobEntry> entries) {
  std::unordered_set<std::string_view> seen;
  for (const records::JobEntry& entry : entries) {
    if (!entry.request.key.empty() && !seen.insert(entry.request.key).second) {
      throw Error{ErrorKind::corrupt_data, "two entries of this history were asked for by the same request",
                  "export the job again with `zeus jobs NAME export`"};
    }
  }
}

}  // namespace

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

std::optional<StoredJob> SqlStore::read_job(const std::string& name) {
  long long id = 0;
  std::string found;
  std::string definition;
  long long created = 0;
  long long length = 0;
  JobOrigin origin;
  soci::session& session = database_->session();
  session << fmt::format(
      "SELECT id, name, definition, created, (SELECT COALESCE(MAX(sequence), 0) FROM entries WHERE "
      "job = jobs.id), {} FROM jobs WHERE name = :name",
      current_ ? "COALESCE(made_by, ''), COALESCE(request, ''), COALESCE(asked, '')" : "'', '', ''"),
      soci::into(id), soci::into(found), soci::into(definition), soci::into(created), soci::into(length),
      soci::into(origin.user), soci::into(origin.request.key), soci::into(origin.request.asked),
      soci::use(name, "name");
  if (!session.got_data()) {
    return std::nullopt;
  }
  return StoredJob{.id = id,
                   .name = found,
                   .definition = records::job_definition_from_json(definition),
                   .created = WallTime{created},
                   .length = static_cast<std::uint64_t>(length),
                   .origin = origin};
}

std::optional<long long> SqlStore::lock_job(const std::string& name) {
  long long id = 0;
  soci::session& session = database_->session();
  session << fmt::format("SELECT id FROM jobs WHERE name = :name{}", database_->dialect().lock_row), soci::into(id),
      soci::use(name, "name");
  return session.got_data() ? std::optional{id} : std::nullopt;
}

bool SqlStore::lock_job(JobId job, std::string_view how) {
  long long id = job;
  soci::session& session = database_->session();
  session << fmt::format("SELECT id FROM jobs WHERE id = :id{}", how), soci::into(id), soci::use(id, "id");
  return session.got_data();
}

std::vector<std::string> SqlStore::names() {
  return reading([&](soci::session& session) {
    std::vector<std::string> names;
    std::string name;
    soci::statement statement = (session.prepare << "SELECT name FROM jobs ORDER BY name", soci::into(name));
    statement.execute();
    while (statement.fetch()) {
      names.push_back(name);
    }
    return names;
  });
}

std::optional<StoredJob> SqlStore::find(std::string_view name) {
  return reading([&](soci::session&) { return read_job(std::string{name}); });
}

bool SqlStore::insert_job(const std::string& name, const records::JobDefinition& definition, WallTime created,
                          const JobOrigin& origin, const std::string& mark) {
  const std::string text = records::to_json(definition);
  const long long when = created.microseconds_since_epoch;
  soci::indicator has_user = unless_empty(origin.user);
  soci::indicator has_request = unless_empty(origin.request.key);
  long long id = 0;
  soci::session& session = database_->session();
  session << "INSERT INTO jobs (name, definition, created, mark, made_by, request, asked) VALUES (:name, :definition, "
             ":created, :mark, :user, :request, :asked) ON CONFLICT (name) DO NOTHING RETURNING id",
      soci::into(id), soci::use(name), soci::use(text), soci::use(when), soci::use(mark),
      soci::use(origin.user, has_user), soci::use(origin.request.key, has_request),
      soci::use(origin.request.asked, has_request);
  return session.got_data();
}

StoredJob SqlStore::find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                   const JobOrigin& origin) {
  const std::string called{name};
  const std::string mark = next_mark();
  while (true) {
    if (std::optional<StoredJob> known = find(name)) {
      return std::move(*known);
    }
    // Whoever was quicker made it, and may have forgotten it again.
    std::optional<StoredJob> made;
    sharing([&](soci::session&) {
      insert_job(called, definition, now, origin, mark);
      made = read_job(called);
    });
    if (made) {
      return *made;
    }
  }
}

StoredJob SqlStore::import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           std::span<const records::JobEntry> entries, const JobOrigin& origin) {
  refuse_repeated(entries);
  const std::string called{name};
  const std::string mark = next_mark();
  return writing([&](soci::session& session) {
    if (!insert_job(called, definition, created, origin, mark)) {
      long long done_before = 0;
      session << "SELECT COUNT(*) FROM jobs WHERE name = :name AND mark = :mark", soci::into(done_before),
          soci::use(called, "name"), soci::use(mark, "mark");
      if (done_before == 0) {
        throw Error{ErrorKind::already_exists, fmt::format("there is a job '{}' already", name),
                    "forget it first, or choose another name"};
      }
      return read_job(called).value();
    }
    StoredJob job = read_job(called).value();
    std::vector<NewEntry> all;
    all.reserve(entries.size());
    for (const records::JobEntry& entry : entries) {
      all.push_back({.written = entry.written, .body = &entry.body, .request = &entry.request, .mark = {}});
    }
    insert(job.id, 1, all);
    job.length = entries.size();
    return job;
  });
}

bool SqlStore::forget(std::string_view name) {
  const std::string called{name};
  // Once known, it is the number that says whether it was done: others may have made a job of that name since.
  std::optional<long long> found;
  return writing([&](soci::session& session) {
    // Its definition may be what is damaged.
    if (found) {
      if (!lock_job(*found, database_->dialect().lock_row)) {
        return true;
      }
    } else if (found = lock_job(called); !found) {
      return false;
    }
    const long long id = *found;
    for (const std::string_view table :
         {"entries", "snapshots", "checkpoints", "beats", "sightings", "summaries", "summary_days"}) {
      session << fmt::format("DELETE FROM {} WHERE job = :job", table), soci::use(id);
    }
    session << "DELETE FROM jobs WHERE id = :job", soci::use(id);
    return true;
  });
}

std::uint64_t SqlStore::jobs_of(std::string_view user) {
  const std::string of{user};
  return reading([&](soci::session& session) {
    long long count = 0;
    if (current_) {
      session << "SELECT COUNT(*) FROM jobs WHERE made_by = :user", soci::into(count), soci::use(of);
    }
    return static_cast<std::uint64_t>(count);
  });
}

std::vector<JobLength> SqlStore::lengths() {
  return reading([&](soci::session& session) {
    long long id = 0;
    std::string name;
    long long length = 0;
    std::vector<JobLength> lengths;
    soci::statement statement = (session.prepare << "SELECT id, name, (SELECT COALESCE(MAX(sequence), 0) FROM entries "
                                                    "WHERE job = jobs.id) FROM jobs",
                                 soci::into(id), soci::into(name), soci::into(length));
    statement.execute();
    while (statement.fetch()) {
      lengths.push_back({.id = id, .name = name, .length = static_cast<std::uint64_t>(length)});
    }
    return lengths;
  });
}

std::vector<records::JobEntry> SqlStore::entries(JobId job, std::uint64_t after, std::size_t at_most) {
  return reading([&](soci::session& session) {
    long long sequence = 0;
    long long written = 0;
    std::string body;
    records::EntryRequest request;
    const long long id = job;
    const long long from = sql(after);
    const auto most = static_cast<long long>(std::min<std::size_t>(at_most, std::numeric_limits<int>::max()));
    soci::statement statement =
        (session.prepare << fmt::format("SELECT sequence, written, body, {} FROM entries WHERE job = :job AND "
                                        "sequence > :after ORDER BY sequence LIMIT :most",
                                        current_ ? "COALESCE(request, ''), COALESCE(asked, '')" : "'', ''"),
         soci::into(sequence), soci::into(written), soci::into(body), soci::into(request.key),
         soci::into(request.asked), soci::use(id), soci::use(from), soci::use(most));
    statement.execute();
    std::vector<records::JobEntry> entries;
    while (statement.fetch()) {
      entries.push_back({.sequence = static_cast<std::uint64_t>(sequence),
                         .written = WallTime{written},
                         .body = records::job_entry_body_from_json(body),
                         .request = request});
    }
    return entries;
  });
}

void SqlStore::insert(JobId job, std::uint64_t sequence, std::span<const NewEntry> entries) {
  // Enough to make few round trips; SQLite looks at all names of a statement for each of them.
  constexpr std::size_t at_once = 25;
  const long long id = job;
  for (; !entries.empty(); entries = entries.subspan(std::min(at_once, entries.size()))) {
    const std::span<const NewEntry> some = entries.first(std::min(at_once, entries.size()));
    // What a statement is given stays where it is until it is done.
    std::deque<long long> numbers;
    std::deque<std::string> texts;
    std::deque<soci::indicator> indicators;
    std::vector<std::string> rows;
    soci::statement statement{database_->session()};
    statement.alloc();
    const auto put = [&](std::string_view text) {
      statement.exchange(soci::use(texts.emplace_back(text), indicators.emplace_back(unless_empty(text))));
    };
    for (const NewEntry& entry : some) {
      statement.exchange(soci::use(id));
      statement.exchange(soci::use(numbers.emplace_back(sql(sequence++))));
      statement.exchange(soci::use(numbers.emplace_back(entry.written.microseconds_since_epoch)));
      put(records::to_json(*entry.body));
      put(entry.mark);
      put(entry.request->key);
      put(entry.request->asked);
      rows.push_back(
          fmt::format("(:job{0}, :sequence{0}, :written{0}, :body{0}, :mark{0}, :request{0}, :asked{0})", rows.size()));
    }
    statement.prepare(fmt::format("INSERT INTO entries (job, sequence, written, body, mark, request, asked) VALUES {}",
                                  fmt::join(rows, ", ")));
    statement.define_and_bind();
    statement.execute(true);
  }
}

bool SqlStore::has_mark(JobId job, std::uint64_t sequence, const std::string& mark) {
  const long long id = job;
  const long long number = sql(sequence);
  long long entries = 0;
  database_->session() << "SELECT COUNT(*) FROM entries WHERE job = :job AND sequence = :sequence AND mark = :mark",
      soci::into(entries), soci::use(id, "job"), soci::use(number, "sequence"), soci::use(mark, "mark");
  return entries > 0;
}

std::uint64_t SqlStore::length(JobId job) {
  const long long id = job;
  long long length = 0;
  database_->session() << "SELECT COALESCE(MAX(sequence), 0) FROM entries WHERE job = :job", soci::into(length),
      soci::use(id, "job");
  return static_cast<std::uint64_t>(length);
}

std::optional<FoundRequest> SqlStore::read_request(JobId job, const std::string& key) {
  const long long id = job;
  long long sequence = 0;
  std::string asked;
  soci::session& session = database_->session();
  session << "SELECT sequence, COALESCE(asked, '') FROM entries WHERE job = :job AND request = :request",
      soci::into(sequence), soci::into(asked), soci::use(id), soci::use(key);
  if (!session.got_data()) {
    return std::nullopt;
  }
  return FoundRequest{.sequence = static_cast<std::uint64_t>(sequence), .asked = asked};
}

bool SqlStore::append_now(const Append& append) {
  // A statement of its own: what one sees is as it was when it began, and others may have appended while this one
  // waited for the row.
  if (length(append.job) != append.after) {
    return has_mark(append.job, append.after + 1, append.mark);
  }
  const records::EntryRequest& request = append.attached->request;
  if (!request.key.empty() && read_request(append.job, request.key)) {
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
  insert(append.job, append.after + 1, entries);
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
  // What the owners of recurrences that are over said last is of no use, and nobody holds it.
  std::vector<std::uint64_t> running;
  for (const records::RunningSummary& one : row->summary.running) {
    running.push_back(one.recurrence - 1);  // which is said from 1
  }
  const long long id = append.job;
  for (const std::string_view which : {"beats", "sightings"}) {
    database_->session() << fmt::format(
        "DELETE FROM {} WHERE job = :job{}", which,
        running.empty() ? "" : fmt::format(" AND recurrence NOT IN ({})", fmt::join(running, ", "))),
        soci::use(id);
  }
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
    // What concerns the database concerns all of them; anything else may be the matter of one.
    if (error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::timeout) {
      for (Write* const each : group) {
        each->failure = std::make_exception_ptr(error);  // one each: they end in threads of their own
      }
    }
  } catch (...) {
    // Each will find out.
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
    // Whoever has to wait for another's lock, or has no job any more, does so by himself.
    const Dialect& dialect = database_->dialect();
    if (!lock_job(job, alone ? dialect.lock_row : dialect.lock_row_if_free)) {
      if (alone) {
        throw Error{ErrorKind::not_found, "the job was forgotten meanwhile", "run it again to start anew"};
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
  return reading([&](soci::session&) { return current_ ? read_request(job, asked_by) : std::nullopt; });
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
    if (!lock_job(job, alone ? database_->dialect().lock_row : database_->dialect().lock_row_if_free)) {
      return alone;  // it is gone
    }
    if (length(job) == row.summary.entries) {
      SummaryTable{database_->session()}.keep(job, row, row.summary.entries);
    }
    return true;
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
  return reading([&](soci::session& session) -> std::optional<Snapshot> {
    const long long id = job;
    const std::string kind{key};
    long long sequence = 0;
    std::string state;
    session << "SELECT sequence, state FROM snapshots WHERE job = :job AND kind = :kind", soci::into(sequence),
        soci::into(state), soci::use(id), soci::use(kind);
    if (!session.got_data()) {
      return std::nullopt;
    }
    return Snapshot{.key = kind, .sequence = static_cast<std::uint64_t>(sequence), .state = std::move(state)};
  });
}

void SqlStore::keep_snapshot(JobId job, const Snapshot& snapshot) {
  sharing([&](soci::session& session) {
    const long long id = job;
    const long long sequence = sql(snapshot.sequence);
    session << "INSERT INTO snapshots (job, kind, sequence, state) VALUES (:job, :kind, :sequence, :state) "
               "ON CONFLICT (job) DO UPDATE SET kind = excluded.kind, sequence = excluded.sequence, "
               "state = excluded.state WHERE snapshots.kind <> excluded.kind OR snapshots.sequence < excluded.sequence",
        soci::use(id), soci::use(snapshot.key), soci::use(sequence), soci::use(snapshot.state);
  });
}

std::optional<Snapshot> SqlStore::checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) {
  const std::string kind{key};
  return reading([&](soci::session& session) -> std::optional<Snapshot> {
    if (!current_) {
      return std::nullopt;
    }
    const long long id = job;
    const long long most = sql(std::min<std::uint64_t>(sequence, std::numeric_limits<long long>::max()));
    long long found = 0;
    std::string state;
    session
        << "SELECT sequence, state FROM checkpoints WHERE job = :job AND kind = :kind AND sequence <= :most ORDER BY "
           "sequence DESC LIMIT 1",
        soci::into(found), soci::into(state), soci::use(id), soci::use(kind), soci::use(most);
    if (!session.got_data()) {
      return std::nullopt;
    }
    return Snapshot{.key = kind, .sequence = static_cast<std::uint64_t>(found), .state = std::move(state)};
  });
}

void SqlStore::keep_checkpoint(JobId job, const Snapshot& checkpoint) {
  sharing([&](soci::session& session) {
    const long long id = job;
    const long long sequence = sql(checkpoint.sequence);
    session << "DELETE FROM checkpoints WHERE job = :job AND kind <> :kind", soci::use(id), soci::use(checkpoint.key);
    session
        << "INSERT INTO checkpoints (job, kind, sequence, state) VALUES (:job, :kind, :sequence, :state) ON CONFLICT "
           "(job, kind, sequence) DO UPDATE SET state = excluded.state",
        soci::use(id), soci::use(checkpoint.key), soci::use(sequence), soci::use(checkpoint.state);
  });
}

void SqlStore::drop_snapshots() {
  writing([&](soci::session& session) {
    session << "DELETE FROM snapshots";
    session << "DELETE FROM checkpoints";
    return true;
  });
}

void SqlStore::beat(JobId job, std::uint64_t recurrence, std::string_view readings, WallTime now) {
  const std::string said{readings};
  std::optional<long long> counted;
  sharing([&](soci::session& session) {
    const long long id = job;
    const long long number = sql(recurrence);
    // Counted once, so that what is written twice is still one beat.
    counted = counted ? *counted : sql(read_beats(job, recurrence)) + 1;
    const long long next = *counted;
    const long long when = now.microseconds_since_epoch;
    soci::indicator some = unless_empty(said);
    session
        << "INSERT INTO beats (job, recurrence, beat, written, readings) VALUES (:job, :recurrence, :beat, :written, "
           ":readings) ON CONFLICT (job, recurrence) DO UPDATE SET beat = excluded.beat, "
           "written = excluded.written, readings = excluded.readings WHERE beats.beat < excluded.beat",
        soci::use(id), soci::use(number), soci::use(next), soci::use(when), soci::use(said, some);
  });
}

std::vector<KeptBeat> SqlStore::readings(std::optional<JobId> job) {
  return reading([&](soci::session& session) {
    std::vector<KeptBeat> all;
    if (!current_) {
      return all;
    }
    const long long lowest = job.value_or(std::numeric_limits<JobId>::min());
    const long long highest = job.value_or(std::numeric_limits<JobId>::max());
    long long of = 0;
    long long recurrence = 0;
    long long beat = 0;
    long long written = 0;
    std::string said;
    soci::statement statement =
        (session.prepare << "SELECT job, recurrence, beat, COALESCE(written, 0), readings FROM beats WHERE readings IS "
                            "NOT NULL AND job BETWEEN :lowest AND :highest ORDER BY job, recurrence",
         soci::into(of), soci::into(recurrence), soci::into(beat), soci::into(written), soci::into(said),
         soci::use(lowest), soci::use(highest));
    statement.execute();
    while (statement.fetch()) {
      all.push_back({.job = of,
                     .recurrence = static_cast<std::uint64_t>(recurrence),
                     .beat = static_cast<std::uint64_t>(beat),
                     .written = WallTime{written},
                     .readings = said});
    }
    return all;
  });
}

std::uint64_t SqlStore::read_beats(JobId job, std::uint64_t recurrence) {
  const long long id = job;
  const long long number = sql(recurrence);
  long long beat = 0;
  database_->session() << "SELECT COALESCE(MAX(beat), 0) FROM beats WHERE job = :job AND recurrence = :recurrence",
      soci::into(beat), soci::use(id), soci::use(number);
  return static_cast<std::uint64_t>(beat);
}

std::uint64_t SqlStore::beats(JobId job, std::uint64_t recurrence) {
  return reading([&](soci::session&) { return read_beats(job, recurrence); });
}

Sighting SqlStore::sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat, Instant now) {
  long long noted = 0;
  sharing([&](soci::session& session) {
    const long long id = job;
    const long long number = sql(recurrence);
    const std::string where{place};
    const long long count = sql(beat);
    const long long since = now.nanoseconds;
    session << "INSERT INTO sightings (job, recurrence, place, beat, since) "
               "VALUES (:job, :recurrence, :place, :beat, :since) ON CONFLICT (job, recurrence, place) "
               "DO UPDATE SET beat = excluded.beat, since = excluded.since WHERE sightings.beat <> excluded.beat",
        soci::use(id), soci::use(number), soci::use(where), soci::use(count), soci::use(since);
    session << "SELECT since FROM sightings WHERE job = :job AND recurrence = :recurrence AND place = :place",
        soci::into(noted), soci::use(id), soci::use(number), soci::use(where);
  });
  return {.beat = beat, .since = Instant{noted}};
}

}  // namespace zeus::store
