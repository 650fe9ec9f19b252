// Inside Zeus, what the public header says of an epoch under a limit. A plain value; copy it freely between threads.
#pragma once

#include <zeus/power.hpp>

namespace zeus::records {

using zeus::LimitProfile;

}  // namespace zeus::records
