#include "base/inherited_socket.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace zeus {

FileDescriptor take_inherited_socket() {
  struct stat status {};
  if (::fstat(inherited_socket_number, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    throw Error{ErrorKind::invalid_argument, "this program is started by Zeus itself, not by hand"};
  }
  constexpr unsigned first = inherited_socket_number + 1;
#ifdef SYS_close_range
  const bool closed = ::syscall(SYS_close_range, first, ~0U, 0) == 0;
#else
  const bool closed = false;
#endif
  if (!closed) {
    constexpr long many = 65536;
    const long end = std::min(many, ::sysconf(_SC_OPEN_MAX));
    for (int descriptor = first; descriptor < end; ++descriptor) {
      ::close(descriptor);
    }
  }
  FileDescriptor socket{inherited_socket_number};
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  return socket;
}

}  // namespace zeus
