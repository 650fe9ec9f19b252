#include "store/migrations.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace zeus::store {

namespace {

// Never change a released step; add one. The dialect fills in what is in braces.
struct Migration {
  bool read_without;  // a store without this step can be read
  std::vector<std::string_view> statements;
};

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> all = {
      {.read_without = false,
       .statements =
           {
               R"(CREATE TABLE jobs (id {identity}, name {bytes} NOT NULL UNIQUE, definition TEXT NOT NULL,
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
           }},
      // Marks identify a write whose answer was lost: on an import's job, and on an append's first entry.
      {.read_without = true,
       .statements = {"ALTER TABLE jobs ADD COLUMN mark TEXT", "ALTER TABLE entries ADD COLUMN mark TEXT"}},
      // Who asked for a change, what owners report of their GPUs, and what avoids reading whole histories.
      {.read_without = true,
       .statements =
           {
               "ALTER TABLE jobs ADD COLUMN made_by TEXT",
               "ALTER TABLE jobs ADD COLUMN request TEXT",
               "ALTER TABLE jobs ADD COLUMN asked TEXT",
               "CREATE INDEX jobs_by_user ON jobs (made_by) WHERE made_by IS NOT NULL",
               "ALTER TABLE entries ADD COLUMN request TEXT",
               "ALTER TABLE entries ADD COLUMN asked TEXT",
               "CREATE UNIQUE INDEX entries_by_request ON entries (job, request) WHERE request IS NOT NULL",
               "ALTER TABLE beats ADD COLUMN written BIGINT",
               "ALTER TABLE beats ADD COLUMN readings TEXT",
               R"(CREATE TABLE checkpoints (job BIGINT NOT NULL, kind TEXT NOT NULL, sequence BIGINT NOT NULL,
                                    state TEXT NOT NULL, PRIMARY KEY (job, kind, sequence)))",
               R"(CREATE TABLE summaries (job BIGINT PRIMARY KEY, name {bytes} NOT NULL, sequence BIGINT NOT NULL,
                                  changed BIGINT NOT NULL, running BIGINT NOT NULL,
                                  saved_energy DOUBLE PRECISION NOT NULL, counted_unit BIGINT,
                                  mean DOUBLE PRECISION NOT NULL, half_width DOUBLE PRECISION NOT NULL,
                                  body TEXT NOT NULL))",
               "CREATE INDEX summaries_by_name ON summaries (name, running)",
               "CREATE INDEX summaries_by_change ON summaries (changed DESC, name, running)",
               "CREATE INDEX summaries_by_savings ON summaries (saved_energy DESC, name, running)",
               R"(CREATE TABLE summary_days (job BIGINT NOT NULL, day BIGINT NOT NULL, unit BIGINT NOT NULL,
                                     recurrences BIGINT NOT NULL,
                                     energy_squares DOUBLE PRECISION NOT NULL, cost_squares DOUBLE PRECISION NOT NULL,
                                     took_energy DOUBLE PRECISION NOT NULL, took_time DOUBLE PRECISION NOT NULL,
                                     took_cost DOUBLE PRECISION NOT NULL,
                                     start_energy DOUBLE PRECISION NOT NULL, start_time DOUBLE PRECISION NOT NULL,
                                     start_cost DOUBLE PRECISION NOT NULL,
                                     start_half_width_energy DOUBLE PRECISION NOT NULL,
                                     start_half_width_time DOUBLE PRECISION NOT NULL,
                                     start_half_width_cost DOUBLE PRECISION NOT NULL,
                                     epoch_energy DOUBLE PRECISION NOT NULL, epoch_time DOUBLE PRECISION NOT NULL,
                                     epoch_cost DOUBLE PRECISION NOT NULL,
                                     epoch_half_width_energy DOUBLE PRECISION NOT NULL,
                                     epoch_half_width_time DOUBLE PRECISION NOT NULL,
                                     epoch_half_width_cost DOUBLE PRECISION NOT NULL,
                                     count_half_width_energy DOUBLE PRECISION NOT NULL,
                                     count_half_width_time DOUBLE PRECISION NOT NULL,
                                     count_half_width_cost DOUBLE PRECISION NOT NULL,
                                     PRIMARY KEY (job, day, unit)))",
               "CREATE INDEX summary_days_by_day ON summary_days (day)",
           }},
      // Requests about jobs that are gone. Also the first version with entries for late reports.
      {.read_without = true,
       .statements = {R"(CREATE TABLE past_requests (id {identity}, name {bytes} NOT NULL, request TEXT NOT NULL,
                                      asked TEXT NOT NULL, UNIQUE (name, request)))"}},
      // The first version with entries that leave a recurrence out.
      {.read_without = true, .statements = {}},
  };
  return all;
}

bool has_table(Database& database, const std::string& name) {
  long long tables = 0;
  database.session() << std::string{database.dialect().count_tables}, soci::into(tables), soci::use(name, "name");
  return tables > 0;
}

// The number of steps taken; nothing if this is not a store yet.
std::optional<long long> steps_taken(Database& database) {
  if (!has_table(database, "zeus_store")) {
    return std::nullopt;
  }
  long long taken = 0;
  database.session() << "SELECT COALESCE(MAX(migration), 0) FROM zeus_store", soci::into(taken);
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

bool can_be_read(std::optional<long long> taken) {
  return taken && std::ranges::all_of(migrations() | std::views::drop(*taken), &Migration::read_without);
}

void take_missing_steps(Database& database, std::string_view name) {
  std::optional<long long> taken = steps_taken(database);
  if (is_current(taken, name)) {
    return;
  }
  soci::session& session = database.session();
  const Dialect& dialect = database.dialect();
  if (!taken) {
    if (has_table(database, "jobs") || has_table(database, "entries")) {
      throw Error{ErrorKind::corrupt_data, fmt::format("{} is the database of another program", name),
                  "name another one"};
    }
    session << "CREATE TABLE zeus_store (migration BIGINT PRIMARY KEY)";
    taken = 0;
  }
  for (auto step = static_cast<std::size_t>(*taken); step < migrations().size(); ++step) {
    for (const std::string_view statement : migrations().at(step).statements) {
      session << fmt::format(fmt::runtime(statement), fmt::arg("identity", dialect.identity),
                             fmt::arg("bytes", dialect.bytes));
    }
    const auto number = static_cast<long long>(step) + 1;
    session << "INSERT INTO zeus_store (migration) VALUES (:number)", soci::use(number);
  }
}

}  // namespace

bool has_store(Database& database) {
  return explaining(database, [&] { return steps_taken(database).has_value(); });
}

Tables migrate(Database& database, std::string_view name, bool read_only) {
  return explaining(database, [&] {
    const std::optional<long long> taken = steps_taken(database);
    if (is_current(taken, name)) {
      return Tables::current;
    }
    if (read_only && can_be_read(taken)) {
      return Tables::older;
    }
    if (read_only && !taken) {
      throw Error{ErrorKind::unavailable, fmt::format("{} has no jobs, and is not a store of Zeus yet", name),
                  "run a job with it, which completes it, or name another store"};
    }
    if (read_only) {
      throw Error{ErrorKind::unavailable, fmt::format("the store {} was written by an older Zeus", name),
                  "run a job with it once where it can be written, to bring it up to date"};
    }
    in_transaction(
        database, [&] { database.begin_migrating(); },
        [&] {
          take_missing_steps(database, name);
          return true;
        });
    return Tables::current;
  });
}

}  // namespace zeus::store
