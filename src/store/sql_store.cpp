#include "store/sql_store.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <string>

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
auto SqlStore::writing(Work work) {
  return reading([&](soci::session& session) {
    database_->begin_writing();
    try {
      auto result = work(session);
      database_->commit();
      return result;
    } catch (...) {
      database_->roll_back();
      throw;
    }
  });
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

std::optional<long long> SqlStore::find_id(const std::string& name) {
  long long id = 0;
  soci::session& session = database_->session();
  session << "SELECT id FROM jobs WHERE name = :name", soci::into(id), soci::use(name, "name");
  return session.got_data() ? std::optional{id} : std::nullopt;
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

StoredJob SqlStore::insert_job(std::string_view name, const records::JobDefinition& definition, WallTime created) {
  const std::string text = records::to_json(definition);
  const std::string called{name};
  const long long when = created.microseconds_since_epoch;
  database_->session() << "INSERT INTO jobs (name, definition, created) VALUES (:name, :definition, :created)",
      soci::use(called), soci::use(text), soci::use(when);
  return read_job(called).value();
}

StoredJob SqlStore::find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now) {
  if (std::optional<StoredJob> known = find(name)) {
    return std::move(*known);
  }
  return writing([&](soci::session&) {
    std::optional<StoredJob> found = read_job(std::string{name});
    return found ? std::move(*found) : insert_job(name, definition, now);
  });
}

StoredJob SqlStore::import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                           std::span<const records::JobEntry> entries) {
  return writing([&](soci::session&) {
    if (find_id(std::string{name})) {
      throw Error{ErrorKind::already_exists, fmt::format("there is a job '{}' already", name),
                  "forget it first, or choose another name"};
    }
    StoredJob job = insert_job(name, definition, created);
    for (const records::JobEntry& entry : entries) {
      insert(job.id, ++job.length, entry.written, entry.body);
    }
    return job;
  });
}

bool SqlStore::forget(std::string_view name) {
  return writing([&](soci::session& session) {
    // Its definition may be what is damaged.
    const std::optional<long long> found = find_id(std::string{name});
    if (!found) {
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

void SqlStore::insert(JobId job, std::uint64_t sequence, WallTime written, const records::JobEntryBody& body) {
  const long long id = job;
  const long long number = sql(sequence);
  const long long when = written.microseconds_since_epoch;
  const std::string text = records::to_json(body);
  database_->session()
      << "INSERT INTO entries (job, sequence, written, body) VALUES (:job, :sequence, :written, :body)",
      soci::use(id), soci::use(number), soci::use(when), soci::use(text);
}

bool SqlStore::append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now) {
  return writing([&](soci::session& session) {
    const long long id = job;
    long long jobs = 0;
    long long length = 0;
    session << "SELECT (SELECT COUNT(*) FROM jobs WHERE id = :id), "
               "(SELECT COALESCE(MAX(sequence), 0) FROM entries WHERE job = :job)",
        soci::into(jobs), soci::into(length), soci::use(id, "id"), soci::use(id, "job");
    if (jobs == 0) {
      throw Error{ErrorKind::not_found, "the job was forgotten meanwhile", "run it again to start anew"};
    }
    if (static_cast<std::uint64_t>(length) != after) {
      return false;
    }
    std::uint64_t sequence = after;
    for (const records::JobEntryBody& body : bodies) {
      insert(job, ++sequence, now, body);
    }
    return true;
  });
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
  writing([&](soci::session& session) {
    const long long id = job;
    const long long number = sql(recurrence);
    session << "INSERT INTO beats (job, recurrence, beat) VALUES (:job, :recurrence, 1) "
               "ON CONFLICT (job, recurrence) DO UPDATE SET beat = beats.beat + 1",
        soci::use(id), soci::use(number);
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
