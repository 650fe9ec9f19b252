// The address of a store in PostgreSQL. A value; any thread.
#pragma once

#include <string>
#include <string_view>

namespace zeus::store {

struct PostgresAddress {
  std::string connection;  // for SOCI and libpq; libpq fills in the rest from PGHOST, PGPASSWORD, ~/.pgpass and so on
  std::string shown;       // without a password, for messages
};

// Whether a store's location is such an address.
bool is_postgres(std::string_view location);

// Reads postgresql://[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?KEY=VALUE&...], as libpq does. Anything else, and an
// address whose shown part may contain some of a password, is an invalid_argument Error that does not repeat it.
PostgresAddress postgres_address(std::string_view location);

}  // namespace zeus::store
