#include "store/migrations.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace zeus::store {

namespace {

// Never change a step that was released: add one. {identity} is the dialect's.
struct Migration {
  std::vector<std::string_view> statements;
};

const std::array<Migration, 1>& migrations() {
  static const std::array<Migration, 1> all = {{{{
      R"(CREATE TABLE jobs (id {identity}, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL,
                             created BIGINT NOT NULL))",
      R"(CREATE TABLE entries (job BIGINT NOT NULL, sequence BIGINT NOT NULL, written BIGINT NOT NULL,
                                body TEXT NOT NULL, PRIMARY KEY (job, sequence)))",
      R"(CREATE TABLE snapshots (job BIGINT PRIMARY KEY, kind TEXT NOT NULL, sequence BIGINT NOT NULL,
                                  state TEXT NOT NULL))",
      R"(CREATE TABLE beats (job BIGINT NOT NULL, recurrence BIGINT NOT NULL, beat BIGINT NOT NULL,
                              PRIMARY KEY (job, recurrence)))",
      R"(CREATE TABLE sightings (job BIGINT NOT NULL, recurrence BIGINT NOT NULL, place TEXT NOT NULL,
                                  beat BIGINT NOT NULL, since BIGINT NOT NULL,
                                  PRIMARY KEY (job, recurrence, place)))",
  }}}};
  return all;
}

bool has_table(soci::session& session, const std::string& name) {
  std::string table;
  soci::statement statement = (session.prepare_table_names(), soci::into(table));
  statement.execute();
  while (statement.fetch()) {
    if (table == name) {
      return true;
    }
  }
  return false;
}

// How many steps were taken; nothing where this is no store yet.
std::optional<long long> steps_taken(soci::session& session) {
  if (!has_table(session, "zeus_store")) {
    return std::nullopt;
  }
  long long taken = 0;
  session << "SELECT COALESCE(MAX(migration), 0) FROM zeus_store", soci::into(taken);
  return taken;
}

bool is_current(std::optional<long long> taken, std::string_view name) {
  const auto known = static_cast<long long>(migrations().size());
  if (taken && *taken > known) {
    throw Error{ErrorKind::unavailable,
                fmt::format("the store {} was written by a newer Zeus: its format is {}, the newest known here is {}",
                            name, *taken, known),
                "update this Zeus, or name another store"};
  }
  return taken && *taken == known;
}

void take_missing_steps(soci::session& session, const Dialect& dialect, std::string_view name) {
  std::optional<long long> taken = steps_taken(session);
  if (is_current(taken, name)) {
    return;
  }
  if (!taken) {
    if (has_table(session, "jobs") || has_table(session, "entries")) {
      throw Error{ErrorKind::corrupt_data, fmt::format("{} is a database of something else", name),
                  "name another file"};
    }
    session << "CREATE TABLE zeus_store (migration BIGINT PRIMARY KEY)";
    taken = 0;
  }
  for (auto step = static_cast<std::size_t>(*taken); step < migrations().size(); ++step) {
    for (const std::string_view statement : migrations().at(step).statements) {
      session << fmt::format(fmt::runtime(statement), fmt::arg("identity", dialect.identity));
    }
    const auto number = static_cast<long long>(step) + 1;
    session << "INSERT INTO zeus_store (migration) VALUES (:number)", soci::use(number);
  }
}

}  // namespace

void migrate(Database& database, const Dialect& dialect, std::string_view name, bool read_only) {
  if (is_current(steps_taken(database.session()), name)) {
    return;
  }
  if (read_only) {
    throw Error{ErrorKind::unavailable, fmt::format("the store {} was written by an older Zeus", name),
                "run a job with it once where it can be written, which brings it up to date"};
  }
  database.begin_writing();
  try {
    take_missing_steps(database.session(), dialect, name);
    database.commit();
  } catch (...) {
    database.roll_back();
    throw;
  }
}

}  // namespace zeus::store
