#include "drivers/session/administrator.hpp"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace zeus::drivers {

std::uint64_t user_namespace_of_caller() {
  struct stat status {};
  return ::stat("/proc/thread-self/ns/user", &status) == 0 ? status.st_ino : 0;
}

bool caller_may_administer(std::uint64_t user_namespace) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) {
    return false;
  }
  const bool has_capability = (sets[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN)) != 0;
  return has_capability && user_namespace_of_caller() == user_namespace;
}

}  // namespace zeus::drivers
