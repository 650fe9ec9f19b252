#include "control/ending.hpp"

#include "control/shared_settings.hpp"

#include <utility>

namespace zeus::control {

Ending end_of_lease(const LeaseRecord& record) {
  const Claim* const child = record.child();
  return {.put_back = child != nullptr ? overlaid(child->found, record.found) : record.found, .left = std::nullopt};
}

Ending end_of_child(LeaseRecord record) {
  Ending ending{.put_back = std::move(record.lending->child->found), .left = std::nullopt};
  record.lending->child.reset();
  ending.left = std::move(record);
  return ending;
}

}  // namespace zeus::control
