// SOCI without its binding of Boost.Fusion sequences, which nothing here uses and which would require Boost's headers.
// Nothing else in SOCI's headers depends on it.
#pragma once

#include <soci/soci-config.h>

#undef SOCI_HAVE_BOOST

#include <soci/soci.h>

#include <cstdint>
#include <string_view>

namespace zeus::store {

// For a statement that runs once: otherwise it costs three round trips to PostgreSQL, to prepare, run and drop it.
inline constexpr soci::details::statement_type once = soci::details::st_one_time_query;

// The type that SOCI binds.
inline long long sql(std::uint64_t number) {
  return static_cast<long long>(number);
}

inline soci::indicator unless_empty(std::string_view text) {
  return text.empty() ? soci::i_null : soci::i_ok;
}

}  // namespace zeus::store
