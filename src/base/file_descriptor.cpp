#include "base/file_descriptor.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace zeus {

namespace {

ErrorKind kind_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::permission_denied;
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::not_found;
    case EEXIST:
      return ErrorKind::already_exists;
    case EINVAL:
    case ENAMETOOLONG:
    case EISDIR:
      return ErrorKind::invalid_argument;
    case ETIMEDOUT:
      return ErrorKind::timeout;
    default:
      return ErrorKind::unavailable;
  }
}

std::string advice_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "check the owner and mode of the path, or run as a user who may";
    case EROFS:
      return "choose a path on a file system that can be written";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or choose another path";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return {};
  }
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void FileDescriptor::close() {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

Error system_failure(int error, const std::string& what) {
  return {kind_of(error), what + ": " + std::generic_category().message(error), advice_for(error)};
}

void write_all(const FileDescriptor& file, std::string_view content, const std::string& name) {
  while (!content.empty()) {
    const ssize_t count = ::write(file.get(), content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw system_failure(errno, "cannot write " + name);
    }
  }
}

void allow_many_descriptors() {
  constexpr rlim_t wanted = 16384;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace zeus
