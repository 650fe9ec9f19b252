// What differs between one SQL database and another, for sql_store.cpp: how a transaction that is going to write
// begins, how durable a commit is, and what its failures mean. One thread at a time.
#pragma once

#include "store/soci.hpp"

#include <zeus/error.hpp>

#include <string>

namespace zeus::store {

struct Failure {
  int code = 0;
  std::string text;
};

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  virtual soci::session& session() = 0;
  // Begins a transaction that holds off other writers until commit() or roll_back(), waiting for them first.
  virtual void begin_writing() = 0;
  // Durable when it returns.
  virtual void commit() = 0;
  // Does nothing where there is no transaction; never throws.
  virtual void roll_back() noexcept = 0;
  // What a failure of SOCI means to a user.
  [[nodiscard]] virtual Error explained(const Failure& failure) const = 0;
  // The database's own number for it.
  [[nodiscard]] virtual int code_of(const soci::soci_error& failure) const = 0;
};

// Runs `work` on the database; a failure of SOCI becomes what the database makes of it. The Error is made when SOCI's
// is no longer being handled, since its text would say to a user what only its makers understand.
template <typename Work>
auto explaining(const Database& database, Work work) {
  Failure failure;
  try {
    return work();
  } catch (const soci::soci_error& problem) {
    failure = {.code = database.code_of(problem), .text = problem.what()};
  }
  throw database.explained(failure);
}

}  // namespace zeus::store
