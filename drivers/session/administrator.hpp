// Whether the caller may do what drivers reserve for administrators. It needs CAP_SYS_ADMIN in its effective set, in
// the user namespace that counts as the machine's. Root of a container with a user namespace of its own has the
// capability only there, and is refused as the kernel's drivers refuse it. Any thread; checked at each call, since
// a process may drop capabilities.
#pragma once

#include <cstdint>

namespace zeus::drivers {

// Identifies the user namespace of the calling thread; 0 if the kernel does not say.
std::uint64_t user_namespace_of_caller();

bool caller_may_administer(std::uint64_t user_namespace);

}  // namespace zeus::drivers
