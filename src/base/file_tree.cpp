#include "base/file_tree.hpp"

#include "base/file_descriptor.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace zeus {

namespace {

constexpr int pipe_patience_ms = 2000;

// ESRCH: a file of /proc whose process ended after it was opened.
bool is_missing_file(int error) {
  return error == ENOENT || error == ENOTDIR || error == ESRCH;
}

void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor handle{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems refuse to sync a folder (EINVAL); there is nothing better to do on them.
  if (!handle || (::fsync(handle.get()) != 0 && errno != EINVAL)) {
    throw system_failure(errno, fmt::format("cannot sync the folder {}", folder.string()));
  }
}

// A pipe is opened without waiting for a writer, which might never come; anything else is opened as usual.
struct Opened {
  FileDescriptor file;
  bool is_pipe = false;
};

Opened open_to_read(const std::filesystem::path& path) {
  Opened opened{.file = FileDescriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}};
  if (opened.file) {
    struct stat status {};
    opened.is_pipe = ::fstat(opened.file.get(), &status) == 0 && S_ISFIFO(status.st_mode);
    if (!opened.is_pipe) {
      ::fcntl(opened.file.get(), F_SETFL, O_RDONLY);
    }
  }
  return opened;
}

// True if data came, or the last writer has gone.
bool wait_for_writer(const FileDescriptor& pipe, int patience_ms) {
  pollfd waiting{.fd = pipe.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::string unique_suffix() {
  static std::atomic<unsigned> count{0};
  return fmt::format(".{}.{}.new", ::getpid(), count.fetch_add(1));
}

}  // namespace

FileTree::FileTree(std::filesystem::path root) : root_{std::move(root)} {
}

std::filesystem::path FileTree::resolve(std::string_view path) const {
  return root_ / std::filesystem::path{path}.relative_path();
}

std::optional<std::string> FileTree::read(std::string_view path, std::size_t most_bytes) const {
  const std::filesystem::path full = resolve(path);
  const auto [file, is_pipe] = open_to_read(full);
  if (!file) {
    if (is_missing_file(errno)) {
      return std::nullopt;
    }
    throw system_failure(errno, fmt::format("cannot open {}", full.string()));
  }
  std::string content;
  std::array<char, 16384> buffer{};
  bool waited = false;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count == 0) {
      // For a pipe, this can also mean that nothing has opened it for writing yet.
      if (is_pipe && content.empty() && !std::exchange(waited, true)) {
        if (!wait_for_writer(file, pipe_patience_ms)) {
          throw Error{ErrorKind::unavailable, fmt::format("nothing writes to the pipe {}", full.string()),
                      "start the program that writes to it first, or name a file"};
        }
        continue;
      }
      return content;
    }
    if (count > 0) {
      if (static_cast<std::size_t>(count) > most_bytes - content.size()) {
        throw Error{ErrorKind::invalid_argument, fmt::format("{} has more than {} bytes", full.string(), most_bytes),
                    "check that this is the right file"};
      }
      content.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (is_missing_file(errno)) {
      return std::nullopt;
    } else if (errno == EAGAIN && is_pipe) {
      (void)wait_for_writer(file, -1);
    } else if (errno != EINTR) {
      throw system_failure(errno, fmt::format("cannot read {}", full.string()));
    }
  }
}

std::optional<std::string> FileTree::read_line(std::string_view path) const {
  std::optional<std::string> content = read(path);
  if (content) {
    content->erase(content->find_last_not_of(" \t\r\n") + 1);
  }
  return content;
}

std::vector<std::string> FileTree::list(std::string_view folder) const {
  std::error_code error;
  const std::filesystem::path full = resolve(folder);
  std::vector<std::string> names;
  for (auto entry = std::filesystem::directory_iterator{full, error};
       !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error && !is_missing_file(error.value())) {
    throw system_failure(error.value(), fmt::format("cannot list {}", full.string()));
  }
  std::ranges::sort(names);
  return names;
}

bool FileTree::exists(std::string_view path) const {
  std::error_code error;
  return std::filesystem::exists(resolve(path), error);
}

void FileTree::write_durably(std::string_view path, std::string_view content, Readers readers) const {
  const std::filesystem::path full = resolve(path);
  std::error_code error;
  std::filesystem::create_directories(full.parent_path(), error);
  if (error) {
    throw system_failure(error.value(), fmt::format("cannot make the folder {}", full.parent_path().string()));
  }
  const std::filesystem::path temporary = full.string() + unique_suffix();
  constexpr mode_t for_owner = S_IRUSR | S_IWUSR;
  constexpr mode_t for_everyone = for_owner | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  const mode_t mode = readers == Readers::everyone ? for_everyone : for_owner;
  try {
    const FileDescriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
    if (!file) {
      throw system_failure(errno, fmt::format("cannot write {}", full.string()));
    }
    write_all(file, content, full.string());
    if (::fsync(file.get()) != 0) {
      throw system_failure(errno, fmt::format("cannot write {}", full.string()));
    }
    if (::rename(temporary.c_str(), full.c_str()) != 0) {
      throw system_failure(errno, fmt::format("cannot replace {}", full.string()));
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(full.parent_path());
}

bool FileTree::remove_durably(std::string_view path) const {
  const std::filesystem::path full = resolve(path);
  if (::unlink(full.c_str()) != 0) {
    if (is_missing_file(errno)) {
      return false;
    }
    throw system_failure(errno, fmt::format("cannot remove {}", full.string()));
  }
  sync_folder(full.parent_path());
  return true;
}

}  // namespace zeus
