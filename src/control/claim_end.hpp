// What to put back when a claim to a GPU ends, and what stays in its record. Pure functions; any thread.
#pragma once

#include "control/lease_record.hpp"

#include <optional>

namespace zeus::control {

struct ClaimEnd {
  Found put_back;
  std::optional<LeaseRecord> left;  // nothing if the record is removed
};

// The holder's claim ends, and with it the claim lent to a child. All settings go back to what the holder found, except
// for those that only the child has changed: they go back to what the child found.
ClaimEnd end_of_lease(const LeaseRecord& record);
// The child's claim ends: its parent's settings are put back, and its parent's claim stays.
ClaimEnd end_of_child(LeaseRecord record);

}  // namespace zeus::control
