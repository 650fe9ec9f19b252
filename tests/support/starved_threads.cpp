// Loaded before a program's libraries (LD_PRELOAD), it makes each thread stand still now and then, as on a machine with
// more to do than processors: at calls that lock, wait, read or write, for 5 ms to half a second each time, until the
// process has lost some seconds. No unit test may depend on such pauses. Only for tests.

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <ctime>

namespace {

constexpr double mean_calls_between = 25;
constexpr double shortest_ms = 5;
constexpr double longest_ms = 500;
constexpr double most_ms = 4000;  // of a process, so that limits of a minute hold

std::atomic<double> lost_ms{0};

// Of each thread; nothing here allocates or locks, because what calls may be a signal handler or a forked child.
thread_local std::uint64_t random_bits = 0;
thread_local int calls_left = 0;

double uniform() {
  random_bits ^= random_bits << 13U;
  random_bits ^= random_bits >> 7U;
  random_bits ^= random_bits << 17U;
  return (static_cast<double>(random_bits >> 11U) + 0.5) / 9007199254740992.0;
}

void draw_next() {
  calls_left = 1 + static_cast<int>(-std::log(uniform()) * mean_calls_between);
}

void begin_thread() {
  timespec now{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  const auto thread = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  random_bits = (static_cast<std::uint64_t>(now.tv_nsec) * 0x9E3779B97F4A7C15U) ^ (thread << 32U) ^ 1U;
  draw_next();
}

void stand_still() {
  const double ms = shortest_ms * std::pow(longest_ms / shortest_ms, uniform());
  lost_ms.fetch_add(ms);
  timespec left{0, static_cast<long>(ms * 1e6)};
  while (::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) != 0 && errno == EINTR) {
  }
}

void may_stand_still() {
  const int kept = errno;
  if (random_bits == 0) {
    begin_thread();
  } else if (--calls_left <= 0) {
    if (lost_ms.load() < most_ms) {
      stand_still();
    }
    draw_next();
  }
  errno = kept;
}

// The function of the next library that has this name.
template <typename Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_{name} {}

  Function* look_up() {
    Function* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

constinit Next<int(pthread_mutex_t*)> next_lock{"pthread_mutex_lock"};
constinit Next<int(pthread_mutex_t*)> next_unlock{"pthread_mutex_unlock"};
constinit Next<int(pollfd*, nfds_t, int)> next_poll{"poll"};
constinit Next<ssize_t(int, void*, size_t)> next_read{"read"};
constinit Next<ssize_t(int, const void*, size_t)> next_write{"write"};
constinit Next<ssize_t(int, void*, size_t, int)> next_recv{"recv"};
constinit Next<ssize_t(int, const void*, size_t, int)> next_send{"send"};
constinit Next<int(clockid_t, int, const timespec*, timespec*)> next_sleep{"clock_nanosleep"};
constinit Next<pid_t(pid_t, int*, int)> next_wait{"waitpid"};

// A forked child cannot look anything up: another thread may have held the linker's lock.
[[gnu::constructor]] void look_all_up() {
  next_lock.look_up();
  next_unlock.look_up();
  next_poll.look_up();
  next_read.look_up();
  next_write.look_up();
  next_recv.look_up();
  next_send.look_up();
  next_sleep.look_up();
  next_wait.look_up();
}

}  // namespace

#define ZEUS_SHOWN extern "C" __attribute__((visibility("default")))

ZEUS_SHOWN int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  may_stand_still();
  return next_lock.look_up()(mutex);
}

ZEUS_SHOWN int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const int result = next_unlock.look_up()(mutex);
  may_stand_still();
  return result;
}

ZEUS_SHOWN int poll(pollfd* watched, nfds_t count, int timeout) {
  const int result = next_poll.look_up()(watched, count, timeout);
  may_stand_still();
  return result;
}

ZEUS_SHOWN ssize_t read(int file, void* bytes, size_t size) {
  const ssize_t result = next_read.look_up()(file, bytes, size);
  may_stand_still();
  return result;
}

ZEUS_SHOWN ssize_t write(int file, const void* bytes, size_t size) {
  may_stand_still();
  return next_write.look_up()(file, bytes, size);
}

ZEUS_SHOWN ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  const ssize_t result = next_recv.look_up()(socket, bytes, size, flags);
  may_stand_still();
  return result;
}

ZEUS_SHOWN ssize_t send(int socket, const void* bytes, size_t size, int flags) {
  may_stand_still();
  return next_send.look_up()(socket, bytes, size, flags);
}

ZEUS_SHOWN int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  const int result = next_sleep.look_up()(clock, flags, time, left);
  may_stand_still();
  return result;
}

ZEUS_SHOWN pid_t waitpid(pid_t process, int* status, int options) {
  const pid_t result = next_wait.look_up()(process, status, options);
  may_stand_still();
  return result;
}
