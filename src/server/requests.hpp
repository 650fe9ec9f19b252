// Identifies repeated requests, so that each is done once: by the Idempotency-Key, which each user chooses, and by what
// it asks for. A pure function; any thread.
#pragma once

#include "records/job_entry.hpp"
#include "service/call.hpp"

#include <string_view>

namespace zeus::server {

inline constexpr std::string_view idempotency_key = "Idempotency-Key";

// Empty without a key. `operation` names what the request does.
records::EntryRequest request_of(const service::Call& call, std::string_view operation);

}  // namespace zeus::server
