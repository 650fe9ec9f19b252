#include "base/inherited_socket.hpp"

#include "base/close_from.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zeus {

FileDescriptor take_inherited_socket() {
  struct stat status {};
  if (::fstat(inherited_socket_number, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    throw Error{ErrorKind::invalid_argument, "this program is started by Zeus itself, not by hand"};
  }
  close_from(inherited_socket_number + 1);
  FileDescriptor socket{inherited_socket_number};
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  return socket;
}

}  // namespace zeus
