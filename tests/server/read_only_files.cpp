// Loaded before a program's libraries (LD_PRELOAD), it makes the files below the folder ZEUS_TEST_DISK read-only, as
// after an error of the device, for as long as the file ZEUS_TEST_READ_ONLY exists: files open for writing stay open,
// but writes are refused. A mount cannot be made read-only while files are open for writing. Only for tests.

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool is_read_only() {
  const char* const file = std::getenv("ZEUS_TEST_READ_ONLY");
  return file != nullptr && ::syscall(SYS_faccessat, AT_FDCWD, file, F_OK) == 0;
}

bool is_there(const char* path) {
  const char* const disk = std::getenv("ZEUS_TEST_DISK");
  return disk != nullptr && std::strncmp(path, disk, std::strlen(disk)) == 0;
}

bool refused(const char* path) {
  if (!is_there(path) || !is_read_only()) {
    return false;
  }
  errno = EROFS;
  return true;
}

bool refused(int file) {
  const int before = errno;
  std::array<char, 64> link{};
  std::array<char, 4096> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  const bool named = ::readlink(link.data(), path.data(), path.size() - 1) > 0;
  errno = before;
  return named && refused(path.data());
}

bool writes(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY;
}

int open_as_asked(const char* path, int flags, mode_t mode) {
  struct stat status {};
  const bool makes = (flags & O_CREAT) != 0 && ::stat(path, &status) != 0;
  if ((writes(flags) || makes) && refused(path)) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

#define ZEUS_SHOWN extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(cert-dcl50-cpp): they are what they are called like
ZEUS_SHOWN int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_as_asked(path, flags, mode);
}

ZEUS_SHOWN int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_as_asked(path, flags, mode);
}
// NOLINTEND(cert-dcl50-cpp)

ZEUS_SHOWN ssize_t write(int file, const void* bytes, size_t size) {
  return refused(file) ? -1 : ::syscall(SYS_write, file, bytes, size);
}

ZEUS_SHOWN ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  return refused(file) ? -1 : ::syscall(SYS_pwrite64, file, bytes, size, offset);
}

ZEUS_SHOWN ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  return refused(file) ? -1 : ::syscall(SYS_pwrite64, file, bytes, size, offset);
}

ZEUS_SHOWN int ftruncate(int file, off_t size) noexcept {
  return refused(file) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, size));
}

ZEUS_SHOWN int ftruncate64(int file, off64_t size) noexcept {
  return refused(file) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, size));
}

ZEUS_SHOWN int fallocate(int file, int mode, off_t offset, off_t size) {
  return refused(file) ? -1 : static_cast<int>(::syscall(SYS_fallocate, file, mode, offset, size));
}

ZEUS_SHOWN int unlink(const char* path) noexcept {
  return refused(path) ? -1 : static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

ZEUS_SHOWN int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  if ((mode & W_OK) != 0 && refused(path)) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_faccessat2, folder, path, mode, flags));
}
