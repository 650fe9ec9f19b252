// Who holds a lease, and for whom, in the JSON of `zeus devices` and `zeus restore`. Pure functions; any thread.
#pragma once

#include "control/lease_record.hpp"
#include "records/json_writer.hpp"

#include <string_view>

namespace zeus::cli {

// The keys "holder" and "client". Each is null, with the reason, if there is none.
void put_holder(records::JsonWriter& json, const control::Claim& claim);
void put_no_holder(records::JsonWriter& json, std::string_view why);

}  // namespace zeus::cli
