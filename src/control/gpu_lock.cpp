#include "control/gpu_lock.hpp"

#include "base/file_descriptor.hpp"
#include "control/process_table.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
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

struct flock everything_from(off_t byte) {
  struct flock wanted = request(F_WRLCK, byte);
  wanted.l_len = 0;  // to the end of the file
  return wanted;
}

// In a folder for all users, the lock is for all users too; it has no content. Elsewhere it is the owner's alone, so
// that other users cannot keep root from setting anything.
mode_t mode_for(const std::filesystem::path& file) {
  struct stat folder {};
  const bool shared = ::stat(file.parent_path().c_str(), &folder) == 0 && (folder.st_mode & S_IWOTH) != 0;
  return shared ? S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH : S_IRUSR | S_IWUSR;
}

// Nothing if there is none.
FileDescriptor open_lock(const std::filesystem::path& file) {
  FileDescriptor opened{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!opened && errno != ENOENT) {
    throw system_failure(errno, fmt::format("cannot open the lock {}", file.string()));
  }
  return opened;
}

// Makes a file without a name; nothing if the file system cannot do that. The caller names it once its mode is right,
// so other processes find it complete, and it vanishes if this process is killed before.
FileDescriptor make_unnamed(const std::filesystem::path& file) {
  FileDescriptor made{::open(file.parent_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (made) {
    ::fchmod(made.get(), mode_for(file));
  }
  return made;
}

// Nothing if another process has just made it.
FileDescriptor make_lock(const std::filesystem::path& file) {
  if (FileDescriptor made = make_unnamed(file)) {
    const std::string itself = fmt::format("/proc/self/fd/{}", made.get());
    if (::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, file.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return made;
    }
    if (errno == EEXIST) {
      return {};
    }
  }
  // The file has another name until its mode is right.
  std::string other_name = file.string() + ".XXXXXX";
  FileDescriptor made{::mkostemp(other_name.data(), O_CLOEXEC)};
  int error = errno;
  if (made) {
    ::fchmod(made.get(), mode_for(file));
    const bool named = ::link(other_name.c_str(), file.c_str()) == 0;
    error = errno;
    ::unlink(other_name.c_str());
    if (named) {
      return made;
    }
  }
  if (error != EEXIST) {
    throw system_failure(error, fmt::format("cannot make the lock {}", file.string()));
  }
  return {};
}

}  // namespace

struct GpuLock::State {
  std::string name;
  // The kernel's locks do not keep the threads of one process apart.
  std::mutex turn_mutex{};  // guards `is_taken`
  std::condition_variable turn_ended{};
  bool is_taken = false;            // a thread of this process works, or waits for other processes
  std::mutex file_mutex{};          // guards what follows
  FileDescriptor file{};            // not opened until it is needed
  std::set<std::int64_t> leases{};  // held by this process

  explicit State(std::string file_name) : name{std::move(file_name)} {}

  // Waits for the other threads of this process; false if that takes until `deadline`.
  bool take_turn(Clock& clock, Instant deadline) {
    std::unique_lock guard{turn_mutex};
    while (is_taken) {
      if (clock.now() >= deadline) {
        return false;
      }
      clock.wait_until(guard, turn_ended, deadline);
    }
    is_taken = true;
    return true;
  }

  void end_turn() {
    {
      const std::lock_guard guard{turn_mutex};
      is_taken = false;
    }
    turn_ended.notify_one();
  }

  [[nodiscard]] bool is_the_one_there() const {
    struct stat ours {};
    struct stat there {};
    return ::fstat(file.get(), &ours) == 0 && ::lstat(name.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
  }

  // Opens the file that is there now, if any: a lock on a removed file does not keep other processes out.
  void look() {
    if (!is_the_one_there()) {
      leases.clear();
      file = open_lock(name);
    }
  }

  // True if work may begin. The last worker may have removed the file after we opened it and before we locked it: only
  // a lock on the file that is still there counts.
  bool try_to_lock() {
    look();
    if (!file) {
      file = make_lock(name);
    }
    struct flock wanted = request(F_WRLCK, work_byte);
    if (file && ::fcntl(file.get(), F_SETLK, &wanted) != 0) {
      if (errno != EACCES && errno != EAGAIN && errno != EINTR) {
        throw system_failure(errno, fmt::format("cannot lock {}", name));
      }
      return false;
    }
    return file && is_the_one_there();
  }

  // Removes the file if no lease needs it; from then on no process can find it. A process that opened it before notices
  // that in try_to_lock().
  void unlock() {
    struct flock leased = everything_from(byte_of(0));
    const bool needed = !leases.empty() || ::fcntl(file.get(), F_GETLK, &leased) != 0 || leased.l_type != F_UNLCK ||
                        !is_the_one_there();
    if (!needed) {
      ::unlink(name.c_str());  // in a folder for all users, another user's file stays
    }
    struct flock done = request(F_UNLCK, work_byte);
    ::fcntl(file.get(), F_SETLK, &done);
    // Without a lease, no descriptor is needed: closing it releases nothing.
    if (leases.empty()) {
      file = FileDescriptor{};
    }
  }

  // A process that has locked part of `asked` (0 if its ID is unknown here); nothing if no other process has.
  [[nodiscard]] std::optional<std::int64_t> locker(struct flock asked) {
    look();
    if (!file) {
      return std::nullopt;
    }
    if (::fcntl(file.get(), F_GETLK, &asked) != 0) {
      throw system_failure(errno, fmt::format("cannot look at the locks of {}", name));
    }
    return asked.l_type == F_UNLCK ? std::nullopt : std::optional<std::int64_t>{asked.l_pid};
  }
};

GpuLock::GpuLock(std::unique_ptr<State> state) : state_{std::move(state)} {
}

GpuLock::~GpuLock() = default;

std::shared_ptr<GpuLock> GpuLock::on(const std::filesystem::path& file) {
  return ProcessTable<GpuLock>::one(
      file.string(), [&] { return std::shared_ptr<GpuLock>{new GpuLock{std::make_unique<State>(file.string())}}; });
}

GpuLock::Work GpuLock::begin_work(Clock& clock, Seconds patience) {
  const Instant deadline = clock.now() + patience;
  if (!state_->take_turn(clock, deadline)) {
    throw busy(patience);
  }
  try {
    Seconds pause = 1_ms;
    while (true) {
      if (const std::lock_guard guard{state_->file_mutex}; state_->try_to_lock()) {
        return Work{*this};
      }
      if (clock.now() >= deadline) {
        throw busy(patience);
      }
      clock.sleep_until(clock.now() + pause);
      pause = std::min<Seconds>(2 * pause, 20_ms);
    }
  } catch (...) {
    state_->end_turn();
    throw;
  }
}

Error GpuLock::busy(Seconds patience) const {
  const std::int64_t at_work = worker();
  return Error{
      ErrorKind::timeout,
      fmt::format("{} has been at work on the GPU of {} for more than {} s",
                  at_work == ::getpid() ? "another thread of this process" : fmt::format("process {}", at_work),
                  state_->name, patience.value()),
      "look whether it is stopped, or hangs in the driver"};
}

GpuLock::Work::~Work() {
  if (lock_ != nullptr) {
    {
      const std::lock_guard guard{lock_->state_->file_mutex};
      lock_->state_->unlock();
    }
    lock_->state_->end_turn();
  }
}

std::int64_t GpuLock::worker() const {
  const auto elsewhere = [this] {
    const std::lock_guard guard{state_->file_mutex};
    return state_->locker(request(F_WRLCK, work_byte));
  }();
  const std::lock_guard guard{state_->turn_mutex};
  return elsewhere.value_or(state_->is_taken ? ::getpid() : 0);
}

void GpuLock::hold(std::int64_t lease) {
  const std::lock_guard guard{state_->file_mutex};
  struct flock wanted = request(F_WRLCK, byte_of(lease));
  if (::fcntl(state_->file.get(), F_SETLK, &wanted) != 0) {
    throw system_failure(errno, fmt::format("cannot hold a lease in {}", state_->name));
  }
  state_->leases.insert(lease);
}

void GpuLock::let_go(std::int64_t lease) {
  const std::lock_guard guard{state_->file_mutex};
  struct flock done = request(F_UNLCK, byte_of(lease));
  ::fcntl(state_->file.get(), F_SETLK, &done);
  state_->leases.erase(lease);
}

bool GpuLock::is_held(std::int64_t lease) const {
  const std::lock_guard guard{state_->file_mutex};
  return state_->leases.contains(lease) || state_->locker(request(F_WRLCK, byte_of(lease))).has_value();
}

std::optional<std::int64_t> GpuLock::holder() const {
  const std::lock_guard guard{state_->file_mutex};
  return state_->leases.empty() ? state_->locker(everything_from(byte_of(0))) : ::getpid();
}

}  // namespace zeus::control
