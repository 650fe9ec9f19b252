// Loaded before a program's libraries (LD_PRELOAD), it moves the program's civil time ahead of the machine's by the
// number of seconds in the file that ZEUS_TEST_STEP names, and its monotonic time by that of ZEUS_TEST_MONOTONIC_STEP;
// without them, clocks are unchanged. Only for tests.

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <cstdlib>
#include <ctime>

namespace {

long seconds_ahead(const char* variable) {
  const char* const name = std::getenv(variable);
  const int file = name != nullptr ? ::open(name, O_RDONLY | O_CLOEXEC) : -1;
  std::array<char, 32> text{};
  if (file >= 0) {
    [[maybe_unused]] const ssize_t taken = ::read(file, text.data(), text.size() - 1);
    ::close(file);
  }
  return std::strtol(text.data(), nullptr, 10);
}

bool is_civil(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && is_civil(clock)) {
    time->tv_sec += seconds_ahead("ZEUS_TEST_STEP");
  } else if (result == 0 && clock == CLOCK_MONOTONIC) {
    time->tv_sec += seconds_ahead("ZEUS_TEST_MONOTONIC_STEP");
  }
  return result;
}

extern "C" __attribute__((visibility("default"))) int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec exact{};
  const int result = clock_gettime(CLOCK_REALTIME, &exact);
  *time = {exact.tv_sec, exact.tv_nsec / 1000};
  return result;
}

extern "C" __attribute__((visibility("default"))) time_t time(time_t* told) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  if (told != nullptr) {
    *told = exact.tv_sec;
  }
  return exact.tv_sec;
}
