#include "cli/output_file.hpp"

#include "base/file_descriptor.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <initializer_list>
#include <ios>
#include <ostream>
#include <system_error>
#include <thread>
#include <utility>

namespace zeus::cli {

namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;

// Where a new file would be made: the end of a chain of links, even where the last link leads to nothing yet.
fs::path followed(fs::path file) {
  std::error_code error;
  for (int links = 0; fs::is_symlink(file, error); ++links) {
    if (links == most_links) {
      throw Error{ErrorKind::invalid_argument, fmt::format("{} is a link that leads in a circle", file.string()),
                  "name another file"};
    }
    file = (file.parent_path() / fs::read_symlink(file)).lexically_normal();
  }
  return file;
}

// The one of our own streams that already goes to this file, or -1. Replacing the file would lose what that stream has
// written, and opening it again would overwrite it.
int own_stream_to(const struct stat& status) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(stream, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino) {
      return stream;
    }
  }
  return -1;
}

void make_folder_of(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) {
    throw system_failure(error.value(), fmt::format("cannot make the folder {}", file.parent_path().string()));
  }
}

void check_that_a_file_can_be_made(const fs::path& file, const std::string& name) {
  make_folder_of(file);
  // A full disk takes the name of a new file, but no content.
  static constexpr std::size_t block = 4096;
  const std::string trial = fmt::format("{}.{}.trial", file.string(), ::getpid());
  ::unlink(trial.c_str());
  const FileDescriptor made{::open(trial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!made) {
    throw system_failure(errno, fmt::format("cannot write {}: its folder takes no new file", name));
  }
  try {
    write_all(made, std::string(block, ' '), name);
  } catch (const Error&) {
    ::unlink(trial.c_str());
    throw;
  }
  ::unlink(trial.c_str());
}

}  // namespace

FileDescriptor open_pipe(const fs::path& pipe, const std::string& name) {
  constexpr int most_looks = 100;
  constexpr auto between_looks = std::chrono::milliseconds{20};
  for (int looks = 0; looks < most_looks; ++looks) {
    FileDescriptor opened{::open(pipe.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
    if (opened) {
      ::fcntl(opened.get(), F_SETFL, O_WRONLY);
      return opened;
    }
    if (errno != ENXIO) {
      throw system_failure(errno, fmt::format("cannot open {}", name));
    }
    std::this_thread::sleep_for(between_looks);
  }
  throw Error{ErrorKind::unavailable, fmt::format("{} is a pipe that no process reads", name),
              "start its reader first, or name a file"};
}

FileDescriptor open_to_append(const std::string& name, std::string_view header) {
  const fs::path path = fs::absolute(name);
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  const bool is_file = is_there && S_ISREG(status.st_mode);
  const int own = is_file ? own_stream_to(status) : -1;
  if (is_file && own < 0 && status.st_size > 0) {
    std::string first(header.size(), '\0');
    std::ifstream{path, std::ios::binary}.read(first.data(), static_cast<std::streamsize>(first.size()));
    if (first != header) {
      throw Error{ErrorKind::already_exists, fmt::format("{} exists, and does not begin as what is to be added", name),
                  "name another file, or remove this one"};
    }
    // A recording that was cut short ends in the middle of a line.
    std::ifstream end{path, std::ios::binary | std::ios::ate};
    header = end.seekg(-1, std::ios::end) && end.peek() != '\n' ? "\n" : "";
  }
  if (!is_there) {
    make_folder_of(path);
  }
  FileDescriptor file{own >= 0 ? ::fcntl(own, F_DUPFD_CLOEXEC, 0) : -1};
  if (is_there && S_ISFIFO(status.st_mode)) {
    file = open_pipe(path, name);
  } else if (own < 0) {
    file = FileDescriptor{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644)};
  }
  if (!file) {
    throw system_failure(errno, fmt::format("cannot write {}", name));
  }
  write_all(file, header, name);
  return file;
}

OutputFile::OutputFile(std::string name, std::ostream& out, Readers readers)
    : name_{std::move(name)}, out_{out}, readers_{readers} {
  if (name_ == "-") {
    return;
  }
  if (name_.empty()) {
    throw Error{ErrorKind::invalid_argument, "the name of a file to write is empty",
                "name one, or - for standard output"};
  }
  file_ = fs::absolute(name_);
  struct stat status {};
  const bool is_there = ::stat(file_.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is a folder", name_), "name a file in it"};
  }
  if (is_there && S_ISREG(status.st_mode)) {
    stream_ = own_stream_to(status);
    if (stream_ >= 0) {
      place_ = Place::own_stream;
      return;
    }
  }
  if (is_there && !S_ISREG(status.st_mode)) {
    place_ = Place::as_it_is;
    if (::access(file_.c_str(), W_OK) != 0) {
      throw system_failure(errno, fmt::format("cannot write {}", name_));
    }
    if (S_ISFIFO(status.st_mode)) {
      pipe_ = std::make_shared<const FileDescriptor>(open_pipe(file_, name_));
    }
    return;
  }
  place_ = Place::plain_file;
  file_ = followed(file_);
  if (is_there && ::access(file_.c_str(), W_OK) != 0) {
    throw system_failure(errno, fmt::format("cannot write {}", name_));
  }
  check_that_a_file_can_be_made(file_, name_);
}

void OutputFile::write(std::string_view content) const {
  switch (place_) {
    case Place::standard_output:
      out_ << content;
      break;
    case Place::plain_file:
      FileTree{file_.parent_path()}.write_durably(file_.filename().string(), content, readers_);
      break;
    case Place::own_stream: {
      out_.flush();
      const FileDescriptor stream{::fcntl(stream_, F_DUPFD_CLOEXEC, 0)};
      write_all(stream, content, name_);
      break;
    }
    case Place::as_it_is: {
      if (pipe_) {
        write_all(*pipe_, content, name_);
        break;
      }
      const FileDescriptor opened{::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)};
      if (!opened) {
        throw system_failure(errno, fmt::format("cannot open {}", name_));
      }
      write_all(opened, content, name_);
      break;
    }
  }
}

}  // namespace zeus::cli
