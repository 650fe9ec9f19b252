// Writing to a pipe whose reader may be gone: such a write then fails, where the signal that it sends otherwise would
// end the program. While it lives, on the thread that made it.
#pragma once

#include <csignal>

namespace zeus {

class NoPipeSignal {
 public:
  NoPipeSignal();
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal();

 private:
  sigset_t pipe_{};
  sigset_t former_{};
  bool was_waiting_ = false;
};

}  // namespace zeus
