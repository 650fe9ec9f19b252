#include "store/sql_store.hpp"

#include "base/random_id.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

namespace zeus::store {

namespace {

long long sql(std::uint64_t number) {
  return static_cast<long long>(number);
}

}  // namespace

template <typename Work>
auto SqlStore::reading(Work work) {
  const std::scoped_lock lock{mutex_};
  return explaining(*database_, [&] { return work(database_->session()); });
}

template <typename Work>
auto SqlStore::committing(Work work) {
  return explaining(*database_, [&] {
    return in_transaction(
        *database_, [&] { database_->begin_writing(); }, [&] { return work(database_->session()); });
  });
}

template <typename Work>
auto SqlStore::writing(Work work) {
  const std::scoped_lock lock{mutex_};
  return committing(std::move(work));
}

SqlStore::SqlStore(std::unique_ptr<Database> database) : database_{std::move(database)}, instance_{random_id()} {
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
  soci::session& session = database_->session();
  session
      << "SELECT id, name, definition, created, (SELECT COALESCE(MAX(sequence), 0) FROM entries WHERE job = jobs.id) "
         "FROM jobs WHERE name = :name",
      soci::into(id), soci::into(found), soci::into(definition), soci::into(created), soci::into(length),
      soci::use(name, "name");
  if (!session.got_data()) {
    return std::nullopt;
  }
  return StoredJob{.id = id,
                   .name = found,
                   .definition = records::job_definition_from_json(definition),
                   .created = WallTime{created},
                   .length = static_cast<std::uint64_t>(length)};
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
                          const std::string& mark) {
  const std::string text = records::to_json(definition);
  const long long when = created.microseconds_since_epoch;
  long long id = 0;
  soci::session& session = database_->session();
  session << "INSERT INTO jobs (name, definition, created, mark) VALUES (:name, :definition, :created, :mark) "
             "ON CONFLICT (name) DO NOTHING RETURNING id",
      soci::into(id), soci::use(name), soci::use(text), soci::use(when), soci::use(mark);
  return session.got_data();
}

StoredJob SqlStore::find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now) {
  const std::string called{name};
  const std::string mark = next_mark();
  while (true) {
    if (std::optional<StoredJob> known = find(name)) {
      return std::move(*known);
    }
    // Whoever was quicker made it, and may have forgotten it again.
    const std::optional<StoredJob> made = writing([&](soci::session&) {
      insert_job(called, definition, now, mark);
      return read_job(called);
    });
    if (made) {
      return *made;
    }
  }
}

StoredJob SqlStore::import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           std::span<const records::JobEntry> entries) {
  const std::string called{name};
  const std::string mark = next_mark();
  return writing([&](soci::session& session) {
    if (!insert_job(called, definition, created, mark)) {
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
    for (const records::JobEntry& entry : entries) {
      insert(job.id, ++job.length, entry.written, entry.body, {});
    }
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
    for (const std::string_view table : {"entries", "snapshots", "beats", "sightings"}) {
      session << fmt::format("DELETE FROM {} WHERE job = :job", table), soci::use(id);
    }
    session << "DELETE FROM jobs WHERE id = :job", soci::use(id);
    return true;
  });
}

std::vector<records::JobEntry> SqlStore::entries(JobId job, std::uint64_t after, std::size_t at_most) {
  return reading([&](soci::session& session) {
    long long sequence = 0;
    long long written = 0;
    std::string body;
    const long long id = job;
    const long long from = sql(after);
    const auto most = static_cast<long long>(std::min<std::size_t>(at_most, std::numeric_limits<int>::max()));
    soci::statement statement =
        (session.prepare << "SELECT sequence, written, body FROM entries WHERE job = :job AND "
                            "sequence > :after ORDER BY sequence LIMIT :most",
         soci::into(sequence), soci::into(written), soci::into(body), soci::use(id), soci::use(from), soci::use(most));
    statement.execute();
    std::vector<records::JobEntry> entries;
    while (statement.fetch()) {
      entries.push_back({.sequence = static_cast<std::uint64_t>(sequence),
                         .written = WallTime{written},
                         .body = records::job_entry_body_from_json(body)});
    }
    return entries;
  });
}

void SqlStore::insert(JobId job, std::uint64_t sequence, WallTime written, const records::JobEntryBody& body,
                      const std::optional<std::string>& mark) {
  const long long id = job;
  const long long number = sql(sequence);
  const long long when = written.microseconds_since_epoch;
  const std::string text = records::to_json(body);
  const std::string by = mark.value_or("");
  soci::indicator marked = mark ? soci::i_ok : soci::i_null;
  database_->session()
      << "INSERT INTO entries (job, sequence, written, body, mark) VALUES (:job, :sequence, :written, :body, :mark)",
      soci::use(id), soci::use(number), soci::use(when), soci::use(text), soci::use(by, marked);
}

bool SqlStore::has_mark(JobId job, std::uint64_t sequence, const std::string& mark) {
  const long long id = job;
  const long long number = sql(sequence);
  long long entries = 0;
  database_->session() << "SELECT COUNT(*) FROM entries WHERE job = :job AND sequence = :sequence AND mark = :mark",
      soci::into(entries), soci::use(id, "job"), soci::use(number, "sequence"), soci::use(mark, "mark");
  return entries > 0;
}

bool SqlStore::append_now(const Append& append) {
  // A statement of its own: what one sees is as it was when it began, and others may have appended while this one
  // waited for the row.
  const long long id = append.job;
  long long length = 0;
  database_->session() << "SELECT COALESCE(MAX(sequence), 0) FROM entries WHERE job = :job", soci::into(length),
      soci::use(id, "job");
  std::uint64_t sequence = append.after;
  if (static_cast<std::uint64_t>(length) != sequence) {
    return has_mark(append.job, append.after + 1, append.mark);
  }
  for (const records::JobEntryBody& body : append.bodies) {
    const bool first = sequence == append.after;
    insert(append.job, ++sequence, append.now, body, first ? std::optional{append.mark} : std::nullopt);
  }
  return true;
}

void SqlStore::append_together(std::span<Append* const> group) {
  try {
    const std::vector<std::optional<bool>> results = committing([&](soci::session&) {
      std::vector<std::optional<bool>> done;
      for (const Append* const each : group) {
        // Whoever has to wait for another's lock, or has no job any more, does so by himself.
        const bool locked = lock_job(each->job, database_->dialect().lock_row_if_free);
        done.push_back(locked ? std::optional{append_now(*each)} : std::nullopt);
      }
      return done;
    });
    for (std::size_t index = 0; index < group.size(); ++index) {
      group[index]->result = results[index];
    }
  } catch (const Error& error) {
    // What concerns the database concerns all of them; anything else may be the matter of one.
    if (error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::timeout) {
      for (Append* const each : group) {
        each->failure = std::make_exception_ptr(error);  // one each: they end in threads of their own
      }
    }
  } catch (...) {
    // Each will find out.
  }
}

void SqlStore::append_alone(Append& append) {
  try {
    append.result = committing([&](soci::session&) {
      if (!lock_job(append.job, database_->dialect().lock_row)) {
        throw Error{ErrorKind::not_found, "the job was forgotten meanwhile", "run it again to start anew"};
      }
      return append_now(append);
    });
  } catch (...) {
    append.failure = std::current_exception();
  }
}

bool SqlStore::append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now) {
  Append mine{.job = job, .after = after, .bodies = bodies, .now = now, .mark = next_mark()};
  appends_.join(mine, [this](std::span<Append* const> group) {
    if (group.size() > 1) {
      append_together(group);
    }
    for (Append* const each : group) {
      if (!each->result && each->failure == nullptr) {
        append_alone(*each);
      }
    }
  });
  if (mine.failure != nullptr) {
    std::rethrow_exception(mine.failure);
  }
  return mine.result.value();
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
  writing([&](soci::session& session) {
    const long long id = job;
    const long long sequence = sql(snapshot.sequence);
    session << "INSERT INTO snapshots (job, kind, sequence, state) VALUES (:job, :kind, :sequence, :state) "
               "ON CONFLICT (job) DO UPDATE SET kind = excluded.kind, sequence = excluded.sequence, "
               "state = excluded.state WHERE snapshots.kind <> excluded.kind OR snapshots.sequence < excluded.sequence",
        soci::use(id), soci::use(snapshot.key), soci::use(sequence), soci::use(snapshot.state);
    return true;
  });
}

void SqlStore::drop_snapshots() {
  writing([&](soci::session& session) {
    session << "DELETE FROM snapshots";
    return true;
  });
}

void SqlStore::beat(JobId job, std::uint64_t recurrence) {
  // Counted once, so that what is written twice is still one beat.
  const long long next = sql(beats(job, recurrence)) + 1;
  writing([&](soci::session& session) {
    const long long id = job;
    const long long number = sql(recurrence);
    session << "INSERT INTO beats (job, recurrence, beat) VALUES (:job, :recurrence, :beat) "
               "ON CONFLICT (job, recurrence) DO UPDATE SET beat = excluded.beat WHERE beats.beat < excluded.beat",
        soci::use(id), soci::use(number), soci::use(next);
    return true;
  });
}

std::uint64_t SqlStore::beats(JobId job, std::uint64_t recurrence) {
  return reading([&](soci::session& session) {
    const long long id = job;
    const long long number = sql(recurrence);
    long long beat = 0;
    session << "SELECT COALESCE(MAX(beat), 0) FROM beats WHERE job = :job AND recurrence = :recurrence",
        soci::into(beat), soci::use(id), soci::use(number);
    return static_cast<std::uint64_t>(beat);
  });
}

Sighting SqlStore::sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat, Instant now) {
  return writing([&](soci::session& session) {
    const long long id = job;
    const long long number = sql(recurrence);
    const std::string where{place};
    const long long count = sql(beat);
    const long long since = now.nanoseconds;
    session << "INSERT INTO sightings (job, recurrence, place, beat, since) "
               "VALUES (:job, :recurrence, :place, :beat, :since) ON CONFLICT (job, recurrence, place) "
               "DO UPDATE SET beat = excluded.beat, since = excluded.since WHERE sightings.beat <> excluded.beat",
        soci::use(id), soci::use(number), soci::use(where), soci::use(count), soci::use(since);
    long long noted = 0;
    session << "SELECT since FROM sightings WHERE job = :job AND recurrence = :recurrence AND place = :place",
        soci::into(noted), soci::use(id), soci::use(number), soci::use(where);
    return Sighting{.beat = beat, .since = Instant{noted}};
  });
}

}  // namespace zeus::store
