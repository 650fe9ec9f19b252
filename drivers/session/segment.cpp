#include "drivers/session/segment.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "drivers/session/session_door.hpp"

#include <zeus/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <new>
#include <utility>

namespace zeus::drivers {

namespace {

constexpr std::uint64_t segment_magic = 0x314c4155'5345555aULL;
constexpr int furthest_ancestor = 64;
constexpr int least_descriptor = 200;
constexpr const char* file_name = "zeus-virtual";

struct Reference {
  int process = 0;
  int descriptor = 0;
  std::uint64_t token = 0;
};

template <typename Number>
bool take(std::string_view& text, Number& number, int base, char end) {
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  text.remove_prefix(static_cast<std::size_t>(next - text.data()));
  if (error != std::errc{} || (end == '\0' ? !text.empty() : !text.starts_with(end))) {
    return false;
  }
  text.remove_prefix(end == '\0' ? 0 : 1);
  return true;
}

Reference parse_reference(std::string_view text) {
  Reference reference;
  std::string_view rest = text;
  if (!take(rest, reference.process, 10, ':') || !take(rest, reference.descriptor, 10, ':') ||
      !take(rest, reference.token, 16, '\0') || reference.process <= 0 || reference.descriptor < 0) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("'{}' does not name a session of virtual GPUs", text.substr(0, 64)),
                "start the program with `zeus virtual`, which sets it"};
  }
  return reference;
}

FileDescriptor open_of_process(int process, int descriptor) {
  return FileDescriptor{::open(fmt::format("/proc/{}/fd/{}", process, descriptor).c_str(), O_RDWR | O_CLOEXEC)};
}

// The same file under a high descriptor number, which commands inherit and do not use themselves.
FileDescriptor inherited(FileDescriptor file) {
  FileDescriptor high{::fcntl(file.get(), F_DUPFD, least_descriptor)};
  if (!high) {
    high = FileDescriptor{::fcntl(file.get(), F_DUPFD, 0)};
  }
  if (!high) {
    throw system_failure(errno, "cannot pass a session of virtual GPUs on");
  }
  return high;
}

}  // namespace

Segment::Segment(FileDescriptor file, std::byte* data, std::size_t size)
    : file_{std::move(file)}, data_{data}, size_{size} {
}

Segment::Segment(Segment&& other) noexcept
    : file_{std::move(other.file_)}, data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {
}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Segment::~Segment() {
  if (data_ != nullptr) {
    ::munmap(data_, size_);
  }
}

Segment Segment::create(std::size_t bytes, std::uint32_t layout, Admission admission) {
  const mode_t mode = admission == Admission::all_users ? 0666 : 0600;
  FileDescriptor file{::memfd_create(file_name, MFD_ALLOW_SEALING | MFD_CLOEXEC)};
  if (!file || ::fchmod(file.get(), mode) != 0 || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw system_failure(errno, "cannot make the memory of a session of virtual GPUs");
  }
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) {
    throw system_failure(errno, "cannot map the memory of a session of virtual GPUs");
  }
  std::uint64_t token = 0;
  if (::getrandom(&token, sizeof(token), 0) != static_cast<ssize_t>(sizeof(token))) {
    throw system_failure(errno, "cannot draw a random number");
  }
  new (data) Head{.magic = segment_magic, .layout = layout, .head_bytes = sizeof(Head), .bytes = bytes, .token = token};
  return Segment{inherited(std::move(file)), static_cast<std::byte*>(data), bytes};
}

// Nothing unless the file is the segment with that token.
std::optional<Segment> Segment::map(FileDescriptor file, std::uint64_t token, std::uint32_t layout) {
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) < sizeof(Head)) {
    return std::nullopt;
  }
  Head head{};
  if (::pread(file.get(), &head, sizeof(head), 0) != static_cast<ssize_t>(sizeof(head)) ||
      head.magic != segment_magic || head.token != token) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (head.layout != layout || head.head_bytes != sizeof(Head) || head.bytes != size) {
    throw Error{
        ErrorKind::conflict,
        fmt::format("this session of virtual GPUs has layout {}, and this driver reads layout {}", head.layout, layout),
        "use the `zeus` program and the drivers of one build"};
  }
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) {
    throw system_failure(errno, "cannot map the memory of a session of virtual GPUs");
  }
  return Segment{std::move(file), static_cast<std::byte*>(data), size};
}

std::optional<Segment> Segment::attach(std::string_view reference, std::uint32_t layout) {
  std::optional<Segment> segment = search(reference, layout);
  if (segment) {
    segment->file_.close();
  }
  return segment;
}

std::optional<Segment> Segment::adopt(std::string_view reference, std::uint32_t layout) {
  std::optional<Segment> segment = search(reference, layout);
  if (segment) {
    segment->file_ = inherited(std::move(segment->file_));
  }
  return segment;
}

std::optional<Segment> Segment::search(std::string_view text, std::uint32_t layout) {
  const Reference reference = parse_reference(text);
  // The maker comes last: it may be out of sight (in another PID namespace) or gone.
  std::optional<Segment> segment;
  int process = ::getpid();
  for (int generation = 0; generation < furthest_ancestor && process > 0 && !segment; ++generation) {
    segment = map(open_of_process(process, reference.descriptor), reference.token, layout);
    process = static_cast<int>(parent_of(FileTree{}, process).value_or(0));
  }
  if (!segment) {
    segment = map(open_of_process(reference.process, reference.descriptor), reference.token, layout);
  }
  // Those processes are closed to one of another user, or with fewer capabilities: there remains the session's door.
  return segment ? std::move(segment) : map(SessionDoor::knock(reference.token), reference.token, layout);
}

std::optional<std::string> Segment::find(int process) {
  // The process may end meanwhile.
  std::error_code failed;
  std::filesystem::directory_iterator entry{fmt::format("/proc/{}/fd", process), failed};
  for (; entry != std::filesystem::directory_iterator{}; entry.increment(failed)) {
    const std::filesystem::path target = std::filesystem::read_symlink(entry->path(), failed);
    if (!target.string().starts_with(fmt::format("/memfd:{}", file_name))) {
      continue;
    }
    const int descriptor = std::atoi(entry->path().filename().c_str());
    const FileDescriptor file = open_of_process(process, descriptor);
    Head head{};
    if (file && ::pread(file.get(), &head, sizeof(head), 0) == static_cast<ssize_t>(sizeof(head)) &&
        head.magic == segment_magic) {
      return fmt::format("{}:{}:{:016x}", process, descriptor, head.token);
    }
  }
  return std::nullopt;
}

std::string Segment::reference() const {
  return fmt::format("{}:{}:{:016x}", ::getpid(), file_.get(), head().token);
}

const Segment::Head& Segment::head() const {
  return *std::launder(reinterpret_cast<const Head*>(data_));
}

}  // namespace zeus::drivers
