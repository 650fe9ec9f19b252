// Whether whoever calls may do what drivers leave to administrators: CAP_SYS_ADMIN in its effective set, in the
// namespace of users that the machine is taken to have. Root of a container that has a namespace of its own has the
// capability there alone, and is refused as the kernel's drivers refuse it. Any thread; looked at anew each time, since
// a process may drop what it began with.
#pragma once

#include <cstdint>

namespace zeus::drivers {

// What tells the namespace of users of the calling thread from every other; 0 where the kernel does not say.
std::uint64_t user_namespace_of_caller();

bool caller_may_administer(std::uint64_t user_namespace);

}  // namespace zeus::drivers
