// SOCI, without the part of it that binds Boost.Fusion sequences: nobody here uses that, and it would need Boost's
// headers. Nothing else in SOCI's headers depends on it.
#pragma once

#include <soci/soci-config.h>

#undef SOCI_HAVE_BOOST

#include <soci/soci.h>

#include <cstdint>
#include <string_view>

namespace zeus::store {

// Of a statement that is prepared to be run once: otherwise PostgreSQL is asked three times, to prepare it, to run it
// and to drop it.
inline constexpr soci::details::statement_type once = soci::details::st_one_time_query;

// As SOCI binds them.
inline long long sql(std::uint64_t number) {
  return static_cast<long long>(number);
}

inline soci::indicator unless_empty(std::string_view text) {
  return text.empty() ? soci::i_null : soci::i_ok;
}

}  // namespace zeus::store
