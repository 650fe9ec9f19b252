// The tables of a store, as numbered steps from nothing to now; each store remembers which it has taken. One thread at
// a time for each database.
#pragma once

#include "store/database.hpp"

#include <string_view>

namespace zeus::store {

enum class Tables {
  current,
  older,  // some steps are missing, without which it can be read
};

// Takes the steps that are missing, all or none, unless `read_only`. A store that has taken steps not known here, or
// that is read-only and would need some to be read, is an unavailable Error; tables of something else are a
// corrupt_data Error. `name` is what the store is called there.
Tables migrate(Database& database, std::string_view name, bool read_only);

// Whether there is a store in the database.
bool has_store(Database& database);

}  // namespace zeus::store
