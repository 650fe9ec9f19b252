// While it lives, no file of this process can grow, as on a full disk: for tests of failed writes. One at a time; it
// changes the whole process.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace zeus::test {

class FullDisk {
 public:
  FullDisk() : former_action_{std::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit none{0, former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    static_cast<void>(std::signal(SIGXFSZ, former_action_));
  }

 private:
  rlimit former_{};
  void (*former_action_)(int);
};

}  // namespace zeus::test
