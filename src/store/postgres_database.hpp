// A PostgreSQL database. Commits are as durable as its server makes them; a lost connection is replaced. One thread at
// a time.
#pragma once

#include "base/clock.hpp"
#include "store/database.hpp"
#include "store/open_store.hpp"
#include "store/postgres_address.hpp"

#include <memory>

namespace zeus::store {

// How long it tries to connect, at first and after a loss.
inline constexpr Seconds patience_with_the_lost{60.0};
inline constexpr Seconds patience_when_opening{3.0};

// Connects, or throws an Error. `clock` must outlive it.
std::unique_ptr<Database> open_postgres(PostgresAddress address, Access access, Clock& clock);

}  // namespace zeus::store
