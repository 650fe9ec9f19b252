#include "tls/socket_bio.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

namespace zeus::tls {

namespace {

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int write_some(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(socket_of(bio), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR)) {
    BIO_set_retry_write(bio);
  }
  return static_cast<int>(sent);
}

int read_some(BIO* bio, char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t received = ::recv(socket_of(bio), bytes, static_cast<std::size_t>(count), MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_retry_read(bio);
  }
  return static_cast<int>(received);
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*value*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// Made once, and never freed: a connection may last as long as the process.
const BIO_METHOD* method() {
  static const BIO_METHOD* const made = [] {
    BIO_METHOD* const all = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    if (all != nullptr) {
      BIO_meth_set_write(all, write_some);
      BIO_meth_set_read(all, read_some);
      BIO_meth_set_ctrl(all, control);
    }
    return all;
  }();
  return made;
}

}  // namespace

BIO* socket_bio(int socket) {
  BIO* const bio = method() == nullptr ? nullptr : BIO_new(method());
  if (bio != nullptr) {
    // A number, which is never followed.
    BIO_set_data(bio,
                 reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));  // NOLINT(performance-no-int-to-ptr)
    BIO_set_init(bio, 1);
  }
  return bio;
}

}  // namespace zeus::tls
