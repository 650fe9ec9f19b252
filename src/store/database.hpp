// What differs between one SQL database and another, for sql_store.cpp: how a transaction that is going to write
// begins, how durable a commit is, and what its failures mean. One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "store/soci.hpp"

#include <zeus/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::store {

// What is said otherwise where SQL has no common word.
struct Dialect {
  std::string_view identity;          // the type of a column of numbers that are given out once and never again
  std::string_view bytes;             // the type of a column of texts that are compared and sorted byte by byte
  std::string_view lock_row;          // ends the query for a row that is held against others until the transaction ends
  std::string_view lock_row_if_free;  // likewise, of one that others hold nothing is found
  // Queries that hold :user against others who ask the same, until the transaction ends; the second finds nothing where
  // another has it. Nothing where a transaction that writes has the database to itself.
  std::string_view lock_user;
  std::string_view lock_user_if_free;
  std::string_view count_tables;  // a query: how many tables are called :name
};

struct Failure {
  int code = 0;       // the database's own number for it
  bool lost = false;  // the connection is, and with it the answer to what was asked last
  std::string text;
};

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  [[nodiscard]] virtual const Dialect& dialect() const = 0;
  virtual soci::session& session() = 0;
  // Begins a transaction in which rows that were locked, and tables that are not there, stay so until commit() or
  // roll_back().
  virtual void begin_writing() = 0;
  // Likewise, with all others who would migrate held off.
  virtual void begin_migrating() = 0;
  // Durable when it returns.
  virtual void commit() = 0;
  // Does nothing where there is no transaction; never throws.
  virtual void roll_back() noexcept = 0;

  [[nodiscard]] virtual Failure failure_of(const soci::soci_error& problem) const = 0;
  // What a failure means to a user.
  [[nodiscard]] virtual Error explained(const Failure& failure) const = 0;
  // Returns when what failed may be begun again: a lost connection has been made anew. Throws what the failure means
  // where that is no use, or has taken too long since the connection was first lost, which is noted in `lost_since`.
  virtual void mend(const Failure& failure, std::optional<Instant>& lost_since) = 0;
};

// Runs `work` on the database, again where the connection was lost in it: `work` finds out by itself what of it was
// done. Other failures of SOCI become what the database makes of them. The Error is made when SOCI's is no longer being
// handled, since its text would say to a user what only its makers understand.
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

// Runs `work` in a transaction that `begin` begins: committed when it returns, undone when it throws.
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
