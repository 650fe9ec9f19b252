// By what a request that is asked twice is known, so that it is done once: its Idempotency-Key, which each user chooses
// for himself, and what was asked for. A pure function; any thread.
#pragma once

#include "records/job_entry.hpp"
#include "server/call.hpp"

#include <string_view>

namespace zeus::server {

inline constexpr std::string_view idempotency_key = "Idempotency-Key";

// Nothing in it where there is no key. `operation` tells what is done with what the request says.
records::EntryRequest request_of(const Call& call, std::string_view operation);

}  // namespace zeus::server
