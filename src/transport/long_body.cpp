#include "transport/long_body.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>

namespace zeus::transport {

namespace {

namespace fs = std::filesystem;

// $TMPDIR, or /tmp.
fs::path folder() {
  std::error_code none;
  return fs::temp_directory_path(none);
}

Error no_room(int why) {
  return {ErrorKind::unavailable,
          fmt::format("a long body cannot be kept in '{}': {}", folder().string(),
                      std::error_code{why, std::system_category()}.message()),
          "make room there, or name another folder in TMPDIR"};
}

FileDescriptor nameless_file() {
  FileDescriptor file{::open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!file && (errno == EOPNOTSUPP || errno == EISDIR)) {  // by this file system
    std::string name = (folder() / "zeus.XXXXXX").string();
    file = FileDescriptor{::mkostemp(name.data(), O_CLOEXEC)};
    if (file) {
      ::unlink(name.c_str());
    }
  }
  return file;
}

}  // namespace

LongBody::LongBody() : file_{nameless_file()} {
  if (!file_) {
    throw no_room(errno);
  }
}

void LongBody::append(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = ::pwrite(file_.get(), piece.data(), piece.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      throw no_room(errno);
    }
    size_ += static_cast<std::size_t>(written);
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::span<char> LongBody::read(std::size_t offset, std::span<char> into) const {
  while (true) {
    const ssize_t count = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (count >= 0) {
      return into.first(static_cast<std::size_t>(count));
    }
    if (errno != EINTR) {
      throw Error{ErrorKind::unavailable, "a long body that was kept cannot be read", "see what the system's log says"};
    }
  }
}

std::string LongBody::whole() const {
  std::string text(size_, '\0');
  std::size_t offset = 0;
  for (auto some = read(0, text); !some.empty(); some = read(offset, std::span{text}.subspan(offset))) {
    offset += some.size();
  }
  text.resize(offset);
  return text;
}

}  // namespace zeus::transport
