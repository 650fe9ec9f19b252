// The differences between SQL databases, for sql_store.cpp: how a writing transaction begins, how durable a commit is,
// and what its failures mean. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "store/soci.hpp"

#include <zeus/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::store {

// Words that differ between dialects of SQL.
struct Dialect {
  std::string_view identity;          // the type of a column of IDs that are never reused
  std::string_view bytes;             // the type of a column of strings that are compared and sorted byte by byte
  std::string_view lock_row;          // ends the query for a row to lock it until the transaction ends
  std::string_view lock_row_if_free;  // likewise, but finds nothing if another transaction has locked the row
  // Queries that lock :user against other transactions until this one ends; the second finds nothing if another has it
  // locked. Empty if a writing transaction has the database to itself.
  std::string_view lock_user;
  std::string_view lock_user_if_free;
  std::string_view count_tables;  // a query: the number of tables called :name
};

struct Failure {
  int code = 0;       // the database's own code
  bool lost = false;  // the connection is lost, and the answer to the last query with it
  std::string text;
};

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  // For people: a file, or an address without its password.
  [[nodiscard]] virtual std::string name() const = 0;
  // Throws an unavailable Error if what was opened is no longer at its place, so that nothing written would be found
  // there. Any thread, beside all other calls.
  virtual void check_place() const {}
  [[nodiscard]] virtual const Dialect& dialect() const = 0;
  virtual soci::session& session() = 0;
  // Begins a transaction in which locked rows and the set of tables do not change until commit() or roll_back().
  virtual void begin_writing() = 0;
  // Likewise, and keeps all others from migrating.
  virtual void begin_migrating() = 0;
  // Durable when it returns.
  virtual void commit() = 0;
  // Does nothing without a transaction; never throws.
  virtual void roll_back() noexcept = 0;

  [[nodiscard]] virtual Failure failure_of(const soci::soci_error& problem) const = 0;
  // What a failure means to a user.
  [[nodiscard]] virtual Error explained(const Failure& failure) const = 0;
  // Returns when the work may be tried again, over a new connection if one was lost. Throws what the failure means if a
  // retry is useless, or if the connection has been lost for too long; `lost_since` keeps when it was first lost.
  virtual void mend(const Failure& failure, std::optional<Instant>& lost_since) = 0;
};

// Runs `work` on the database, and again if the connection was lost: `work` itself finds out how much of it was done.
// The database explains other failures of SOCI. The Error is made outside the handler of SOCI's exception, because it
// would otherwise repeat SOCI's text, which users would not understand.
template <typename Work>
auto explaining(Database& database, Work work) {
  std::optional<Instant> lost_since;
  while (true) {
    Failure failure;
    try {
      return work();
    } catch (const soci::soci_error& problem) {
      failure = database.failure_of(problem);
    }
    database.mend(failure, lost_since);
  }
}

// Runs `work` in a transaction that `begin` begins: commits when it returns, rolls back when it throws.
template <typename Begin, typename Work>
auto in_transaction(Database& database, Begin begin, Work work) {
  begin();
  try {
    auto result = work();
    database.commit();
    return result;
  } catch (...) {
    database.roll_back();
    throw;
  }
}

}  // namespace zeus::store
