// A database of PostgreSQL. Commits are durable as far as its server's are; a connection that is lost is made anew.
// One thread at a time.
#pragma once

#include "base/clock.hpp"
#include "store/database.hpp"
#include "store/open_store.hpp"
#include "store/postgres_address.hpp"

#include <memory>

namespace zeus::store {

// For how long a connection is tried for: one that was lost, and the first.
inline constexpr Seconds patience_with_the_lost{60.0};
inline constexpr Seconds patience_when_opening{3.0};

// Connects; what stands in the way is an Error. `clock` outlives it.
std::unique_ptr<Database> open_postgres(PostgresAddress address, Access access, Clock& clock);

}  // namespace zeus::store
