#include "control/gpu_lock.hpp"

#include "base/file_descriptor.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <set>
#include <string>

namespace zeus::control {

namespace {

constexpr off_t work_byte = 0;

off_t byte_of(std::int64_t lease) {
  return 1 + lease;
}

struct flock request(short type, off_t byte) {
  struct flock wanted {};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = byte;
  wanted.l_len = 1;
  return wanted;
}

// In a folder that is for everybody, so is the lock; it has no content. Elsewhere it is its owner's, lest any user keep
// root from setting anything.
mode_t mode_for(const std::filesystem::path& file) {
  struct stat folder {};
  const bool shared = ::stat(file.parent_path().c_str(), &folder) == 0 && (folder.st_mode & S_IWOTH) != 0;
  return shared ? S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH : S_IRUSR | S_IWUSR;
}

FileDescriptor open_lock(const std::filesystem::path& file) {
  // Not in one call: in a sticky folder the kernel may refuse to open somebody else's file with O_CREAT.
  FileDescriptor opened{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!opened && errno == ENOENT) {
    const mode_t mode = mode_for(file);
    opened = FileDescriptor{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, mode)};
    if (opened) {
      ::fchmod(opened.get(), mode);
    } else if (errno == EEXIST) {
      opened = FileDescriptor{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    }
  }
  if (!opened) {
    throw system_failure(errno, fmt::format("cannot open the lock {}", file.string()));
  }
  return opened;
}

}  // namespace

struct GpuLock::State {
  std::string name;
  FileDescriptor file;
  // The kernel's locks do not keep the threads of one process apart.
  std::mutex mutex;
  std::mutex leases_mutex;
  std::set<std::int64_t> leases{};  // held by this process

  // Somebody may have cleared the folder; a lock on a file that nobody else can find keeps nobody out.
  void reopen_if_removed() {
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && status.st_nlink == 0) {
      const std::lock_guard guard{leases_mutex};
      file = open_lock(name);
      leases.clear();
    }
  }
};

namespace {

// The locks that this process has open. A child starts with an empty table: what its parent held, it does not hold,
// and the parent's mutexes may have been locked when it forked.
struct Table {
  pid_t process;
  std::mutex mutex{};
  std::map<std::filesystem::path, std::shared_ptr<GpuLock>> locks{};
};

Table& table() {
  static std::atomic<Table*> current{nullptr};
  Table* found = current.load();
  if (found == nullptr || found->process != ::getpid()) {
    auto fresh = std::make_unique<Table>(::getpid());
    if (current.compare_exchange_strong(found, fresh.get())) {
      found = fresh.release();  // for as long as the process lives, and longer than any static object
    }
  }
  return *found;
}

}  // namespace

GpuLock::GpuLock(std::unique_ptr<State> state) : state_{std::move(state)} {
}

GpuLock::~GpuLock() = default;

std::shared_ptr<GpuLock> GpuLock::on(const std::filesystem::path& file) {
  Table& open = table();
  const std::lock_guard guard{open.mutex};
  std::shared_ptr<GpuLock>& lock = open.locks[file];
  if (!lock) {
    auto state = std::make_unique<State>();
    state->name = file.string();
    state->file = open_lock(file);
    lock.reset(new GpuLock{std::move(state)});
  }
  return lock;
}

GpuLock::Work GpuLock::begin_work(Clock& clock, Seconds patience) {
  const Instant deadline = clock.now() + patience;
  std::unique_lock guard{state_->mutex};
  state_->reopen_if_removed();
  Seconds pause = 1_ms;
  while (true) {
    struct flock wanted = request(F_WRLCK, work_byte);
    if (::fcntl(state_->file.get(), F_SETLK, &wanted) == 0) {
      guard.release();
      return Work{*this};
    }
    const int error = errno;
    if (error != EACCES && error != EAGAIN && error != EINTR) {
      throw system_failure(error, fmt::format("cannot lock {}", state_->name));
    }
    if (clock.now() >= deadline) {
      throw Error{ErrorKind::timeout,
                  fmt::format("process {} has been at work on the GPU of {} for more than {} s", worker(), state_->name,
                              patience.value()),
                  "look whether that process is stopped, or hangs in the driver"};
    }
    clock.sleep_until(clock.now() + pause);
    pause = std::min<Seconds>(2 * pause, 20_ms);
  }
}

GpuLock::Work::~Work() {
  if (lock_ != nullptr) {
    struct flock done = request(F_UNLCK, work_byte);
    ::fcntl(lock_->state_->file.get(), F_SETLK, &done);
    lock_->state_->mutex.unlock();
  }
}

std::int64_t GpuLock::worker() const {
  struct flock asked = request(F_WRLCK, work_byte);
  const bool told = ::fcntl(state_->file.get(), F_GETLK, &asked) == 0 && asked.l_type != F_UNLCK;
  return told ? asked.l_pid : 0;
}

void GpuLock::hold(std::int64_t lease) {
  const std::lock_guard guard{state_->leases_mutex};
  struct flock wanted = request(F_WRLCK, byte_of(lease));
  if (::fcntl(state_->file.get(), F_SETLK, &wanted) != 0) {
    throw system_failure(errno, fmt::format("cannot hold a lease in {}", state_->name));
  }
  state_->leases.insert(lease);
}

void GpuLock::let_go(std::int64_t lease) {
  const std::lock_guard guard{state_->leases_mutex};
  struct flock done = request(F_UNLCK, byte_of(lease));
  ::fcntl(state_->file.get(), F_SETLK, &done);
  state_->leases.erase(lease);
}

bool GpuLock::is_held(std::int64_t lease) const {
  const std::lock_guard guard{state_->leases_mutex};
  if (state_->leases.contains(lease)) {
    return true;
  }
  struct flock asked = request(F_WRLCK, byte_of(lease));
  if (::fcntl(state_->file.get(), F_GETLK, &asked) != 0) {
    throw system_failure(errno, fmt::format("cannot look at the locks of {}", state_->name));
  }
  return asked.l_type != F_UNLCK;
}

std::optional<std::int64_t> GpuLock::holder() const {
  const std::lock_guard guard{state_->leases_mutex};
  if (!state_->leases.empty()) {
    return ::getpid();
  }
  struct flock asked = request(F_WRLCK, byte_of(0));
  asked.l_len = 0;  // to the end, wherever that is
  if (::fcntl(state_->file.get(), F_GETLK, &asked) != 0) {
    throw system_failure(errno, fmt::format("cannot look at the locks of {}", state_->name));
  }
  return asked.l_type == F_UNLCK ? std::nullopt : std::optional<std::int64_t>{asked.l_pid};
}

}  // namespace zeus::control
