// For writing to a pipe whose reader may be gone: while a NoPipeSignal lives, such a write on the thread that made it
// fails, instead of ending the program with SIGPIPE.
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
