// What differs between one SQL database and another, for sql_store.cpp: how a transaction that is going to write
// begins, how durable a commit is, and what its failures mean. One thread at a time.
#pragma once

#include "store/soci.hpp"

#include <zeus/error.hpp>

namespace zeus::store {

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
  // What a failure of SOCI means to a user; called while it is being handled.
  [[nodiscard]] virtual Error explained(const soci::soci_error& failure) const = 0;
};

}  // namespace zeus::store
