// Finds out why a PostgreSQL server refuses a connection. Any thread.
#pragma once

#include <string>

namespace zeus::store {

// Connects once more to get the SQLSTATE with which the server refuses; empty if it accepts or gives none. Takes at
// most 10 s.
std::string sql_state_of_refusal(const std::string& connection);

}  // namespace zeus::store
