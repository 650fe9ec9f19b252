// Why a PostgreSQL lets nobody in. Any thread.
#pragma once

#include <string>

namespace zeus::store {

// Connects once more, only to be told in one word what is wrong: the SQLSTATE by which a server refuses, empty where it
// does not, or where there is none. Takes 10 s at most.
std::string sql_state_of_refusal(const std::string& connection);

}  // namespace zeus::store
