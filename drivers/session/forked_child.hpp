// A process for a test: runs a function in a fork of this one and ends with its result, or is killed. One thread.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <functional>

namespace zeus::drivers {

class ForkedChild {
 public:
  // The function returns true if all is well; an exception counts as false.
  explicit ForkedChild(const std::function<bool()>& work) : process_{::fork()} {
    if (process_ == 0) {
      bool well = false;
      try {
        well = work();
      } catch (const std::exception&) {
        well = false;
      }
      ::_exit(well ? 0 : 1);
    }
  }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  ~ForkedChild() {
    if (process_ > 0) {
      kill();
    }
  }

  [[nodiscard]] pid_t process() const { return process_; }
  void kill() {
    ::kill(process_, SIGKILL);
    (void)well();
  }
  // Waits for its end.
  bool well() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t process_;
};

}  // namespace zeus::drivers
