#include "control/claim_end.hpp"

#include "control/shared_settings.hpp"

#include <utility>

namespace zeus::control {

ClaimEnd end_of_lease(const LeaseRecord& record) {
  const Claim* const child = record.child();
  return {.put_back = child != nullptr ? overlaid(child->found, record.found) : record.found, .left = std::nullopt};
}

ClaimEnd end_of_child(LeaseRecord record) {
  ClaimEnd ending{.put_back = std::move(record.lending->child->found), .left = std::nullopt};
  record.lending->child.reset();
  ending.left = std::move(record);
  return ending;
}

}  // namespace zeus::control
