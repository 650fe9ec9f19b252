// The tables of a store, as numbered steps from nothing to now; each store remembers which it has taken. One thread at
// a time for each database.
#pragma once

#include "store/database.hpp"

#include <string_view>

namespace zeus::store {

// What the numbers in the tables' definitions are called where SQL has no common word.
struct Dialect {
  std::string_view identity;  // a column of numbers that are given out once and never again
};

// Takes the steps that are missing, all or none, unless `read_only`. A store that has taken steps not known here, or
// that would need some and is read-only, is an unavailable Error; tables of something else are a corrupt_data Error.
// `name` is what the store is called there.
void migrate(Database& database, const Dialect& dialect, std::string_view name, bool read_only);

}  // namespace zeus::store
