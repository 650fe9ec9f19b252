// What a store in PostgreSQL is called, and what it is connected to by. A value; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::store {

struct PostgresAddress {
  std::string
      connection;     // for SOCI and libpq; what it leaves open is libpq's: PGHOST, PGPASSWORD, ~/.pgpass and the rest
  std::string shown;  // without a password: for messages
};

// Whether a store's location is such an address.
bool is_postgres(std::string_view location);

// Reads postgresql://[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?KEY=VALUE&...], as libpq does. What is none, and what
// may have a part of a password where messages would show it, is an invalid_argument Error that does not repeat it.
PostgresAddress postgres_address(std::string_view location);

}  // namespace zeus::store
