#include "base/trusted_file.hpp"

#include "base/file_descriptor.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace zeus {

namespace {

struct stat status_of(const FileDescriptor& opened, const std::filesystem::path& name) {
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) {
    throw system_failure(errno, fmt::format("cannot look at {}", name.string()));
  }
  return status;
}

Error distrust(const std::filesystem::path& name, std::string_view why) {
  return Error{ErrorKind::permission_denied, fmt::format("{} is not trusted: {}", name.string(), why),
               "if it is not needed any more, remove it"};
}

Error told(const std::filesystem::path& name) {
  return Error{ErrorKind::permission_denied,
               fmt::format("{} is not secret: users other than its owner may read it", name.string()),
               fmt::format("make a new one, and then: chmod 600 {}", name.string())};
}

// Why another user may have written the file with this status; empty if none can have. In a folder with the sticky bit,
// such as /tmp, only the file's owner can replace a file.
std::string others_hand(const struct stat& status, uid_t user) {
  if (status.st_uid != 0 && status.st_uid != user) {
    return fmt::format("it belongs to user {}", status.st_uid);
  }
  const bool shared = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !shared) {
    return "other users may write to it";
  }
  return {};
}

// `expected` is the size seen before, and most files still have it; a file that has grown since is read all the same.
std::string read_all(const FileDescriptor& opened, const std::filesystem::path& name, std::size_t expected,
                     std::size_t most_bytes) {
  std::string content(std::min(expected, most_bytes) + 1, '\0');
  std::size_t length = 0;
  while (length <= most_bytes) {
    if (length == content.size()) {
      content.resize(std::min(2 * length, most_bytes + 1));
    }
    const ssize_t count = ::read(opened.get(), content.data() + length, content.size() - length);
    if (count == 0) {
      content.resize(length);
      return content;
    }
    if (count > 0) {
      length += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw system_failure(errno, fmt::format("cannot read {}", name.string()));
    }
  }
  throw Error{ErrorKind::corrupt_data, fmt::format("{} has more than {} bytes", name.string(), most_bytes),
              "it is not the file that Zeus expects there: remove it"};
}

}  // namespace

std::optional<std::string> read_trusted(const std::filesystem::path& file, uid_t user, std::size_t most_bytes,
                                        Readers readers) {
  const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  const FileDescriptor folder{::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return std::nullopt;
    }
    throw system_failure(errno, fmt::format("cannot open the folder {}", parent.string()));
  }
  // Does not wait for a writer if the file is a pipe.
  const FileDescriptor opened{
      ::openat(folder.get(), file.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (!opened) {
    if (errno == ENOENT) {
      return std::nullopt;
    }
    if (errno == ELOOP) {
      throw distrust(file, "it is a link");
    }
    if (errno == ENXIO) {
      throw distrust(file, "it is not a plain file");  // a socket
    }
    throw system_failure(errno, fmt::format("cannot open {}", file.string()));
  }
  const struct stat status = status_of(opened, file);
  if (!S_ISREG(status.st_mode)) {
    throw distrust(file, "it is not a plain file");
  }
  if (const std::string why = others_hand(status, user); !why.empty()) {
    throw distrust(file, why);
  }
  if (readers == Readers::owner && (status.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    throw told(file);
  }
  if (status.st_nlink > 1) {
    throw distrust(file, "it has a second name (a hard link), under which it may have been kept and brought back");
  }
  if (const std::string why = others_hand(status_of(folder, parent), user); !why.empty()) {
    throw distrust(file, fmt::format("of its folder: {}", why));
  }
  return read_all(opened, file, static_cast<std::size_t>(status.st_size), most_bytes);
}

}  // namespace zeus
