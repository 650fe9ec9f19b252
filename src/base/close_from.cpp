#include "base/close_from.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace zeus {

void close_from(int first) noexcept {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0) == 0) {
    return;
  }
#endif
  constexpr rlim_t many = 65'536;
  rlimit limit{.rlim_cur = many, .rlim_max = many};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto end = static_cast<int>(std::min(many, limit.rlim_cur));
  for (int descriptor = first; descriptor < end; ++descriptor) {
    ::close(descriptor);
  }
}

}  // namespace zeus
