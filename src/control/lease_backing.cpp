#include "control/lease_backing.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

namespace zeus::control {

void LeaseBacking::require_this_process() const {
  if (!is_of_this_process()) {
    throw Error{ErrorKind::conflict,
                fmt::format("the lease of {} belongs to process {}, which forked this one", name(), owner_),
                "set the GPU in that process"};
  }
}

}  // namespace zeus::control
