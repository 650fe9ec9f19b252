// The tables of a store, as numbered steps from an empty database to the current format; each store records the steps
// it has taken. One thread at a time for each database.
#pragma once

#include "store/database.hpp"

#include <string_view>

namespace zeus::store {

enum class Tables {
  current,
  older,  // some steps are missing, but it can be read without them
};

// Takes the missing steps, all or none, unless `read_only`. A store with steps unknown here, or one that is read-only
// and needs a step before it can be read, is an unavailable Error; another program's tables are a corrupt_data Error.
// `name` is the store's name in messages.
Tables migrate(Database& database, std::string_view name, bool read_only);

// Whether the database contains a store.
bool has_store(Database& database);

}  // namespace zeus::store
