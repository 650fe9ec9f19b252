// What the end of a claim to a GPU puts back, and what is then left of its record. Pure functions; any thread.
#pragma once

#include "control/lease_record.hpp"

#include <optional>

namespace zeus::control {

struct ClaimEnd {
  Found put_back;
  std::optional<LeaseRecord> left;  // nothing when the record goes
};

// The holder's claim ends, and with it what it has lent: all is put back to what the holder found, and what the child
// alone has changed to what the child found.
ClaimEnd end_of_lease(const LeaseRecord& record);
// The child's claim ends: its parent's settings come back, and its parent's claim stays.
ClaimEnd end_of_child(LeaseRecord record);

}  // namespace zeus::control
